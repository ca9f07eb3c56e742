//| The version of these sources; every program tells it to the daemon in HELLO.
#ifndef MT5BRIDGE_VERSION_MQH
#define MT5BRIDGE_VERSION_MQH

#define MT5BRIDGE_VERSION "0.1.0"

#endif

package peers;

/** An engine with one input stream S; it counts the rows it puts out. */
interface Peer extends AutoCloseable {
    void send(long time, Object[] values) throws Exception;

    long rowsOut();

    @Override
    void close();
}

package peers;

import io.siddhi.core.SiddhiAppRuntime;
import io.siddhi.core.SiddhiManager;
import io.siddhi.core.event.Event;
import io.siddhi.core.stream.input.InputHandler;
import io.siddhi.core.stream.output.StreamCallback;

/** Siddhi in playback: the rows' times drive its clock. */
final class SiddhiPeer implements Peer {
    private final SiddhiManager manager = new SiddhiManager();
    private final InputHandler input;
    private long rows;

    SiddhiPeer(String app) {
        SiddhiAppRuntime runtime = manager.createSiddhiAppRuntime("@app:playback " + app);
        runtime.addCallback("Out", new StreamCallback() {
            @Override
            public void receive(Event[] events) {
                rows += events.length;
            }
        });
        input = runtime.getInputHandler("S");
        runtime.start();
    }

    @Override
    public void send(long time, Object[] values) throws InterruptedException {
        input.send(time, values);
    }

    @Override
    public long rowsOut() {
        return rows;
    }

    @Override
    public void close() {
        manager.shutdown();
    }
}

package peers;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Times one engine on one workload: CLASS RULES ROWS WARM_UP RUNS. Prints a line per run: events,
 * nanoseconds, rows out. The events of a run follow those of the run before; the first run warms
 * the JVM and is printed, too: the caller drops it.
 */
public final class Main {
    public static void main(String[] arguments) throws Exception {
        String rules = Files.readString(Path.of(arguments[1]));
        Rows rows = Rows.read(Path.of(arguments[2]));
        int warmUp = Integer.parseInt(arguments[3]);
        int runs = Integer.parseInt(arguments[4]);
        try (Peer peer = open(arguments[0], rules)) {
            send(peer, rows, 0, warmUp);
            int events = (rows.times.length - warmUp) / runs;
            for (int run = 0; run < runs; run++) {
                long before = peer.rowsOut();
                long start = System.nanoTime();
                send(peer, rows, warmUp + run * events, warmUp + (run + 1) * events);
                long duration = System.nanoTime() - start;
                System.out.println(events + " " + duration + " " + (peer.rowsOut() - before));
            }
        }
        System.exit(0);
    }

    private static Peer open(String name, String rules) throws ReflectiveOperationException {
        return (Peer) Class.forName(name).getDeclaredConstructor(String.class).newInstance(rules);
    }

    private static void send(Peer peer, Rows rows, int start, int stop) throws Exception {
        for (int row = start; row < stop; row++) peer.send(rows.times[row], rows.values[row]);
    }
}

package peers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Rows made before the clock starts. The file is little-endian: the number of rows, the number of
 * columns, per column a kind (0 symbol code, 1 double, 2 long, 3 int), the symbols as a count and
 * UTF-8 strings with their lengths, then times and columns as 8-byte values.
 */
final class Rows {
    final long[] times;
    final Object[][] values;

    private Rows(long[] times, Object[][] values) {
        this.times = times;
        this.values = values;
    }

    static Rows read(Path path) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
        int rows = (int) bytes.getLong();
        long[] kinds = new long[(int) bytes.getLong()];
        for (int column = 0; column < kinds.length; column++) kinds[column] = bytes.getLong();
        String[] symbols = new String[(int) bytes.getLong()];
        for (int i = 0; i < symbols.length; i++) {
            byte[] text = new byte[(int) bytes.getLong()];
            bytes.get(text);
            symbols[i] = new String(text, java.nio.charset.StandardCharsets.UTF_8);
        }
        long[] times = new long[rows];
        for (int row = 0; row < rows; row++) times[row] = bytes.getLong();
        Object[][] values = new Object[rows][kinds.length];
        for (int column = 0; column < kinds.length; column++) {
            for (int row = 0; row < rows; row++) values[row][column] = value(bytes, kinds[column], symbols);
        }
        return new Rows(times, values);
    }

    private static Object value(ByteBuffer bytes, long kind, String[] symbols) {
        if (kind == 1) return bytes.getDouble();
        long whole = bytes.getLong();
        if (kind == 0) return symbols[(int) whole];
        if (kind == 3) return (int) whole;
        return whole;
    }
}

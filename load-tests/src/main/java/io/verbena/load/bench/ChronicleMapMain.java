package io.verbena.load.bench;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import net.openhft.chronicle.map.ChronicleMap;
import net.openhft.chronicle.map.ChronicleMapBuilder;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The same records and the same order of keys as {@code TableBenchmark} in a Chronicle Map in shared memory. A process
 * of its own, started by {@code ChronicleMapProcess}, because of the flags that the map needs. Arguments: the file,
 * records, operations, rounds. Prints nanoseconds of a GET whose key the one before decides, of one of many that do not
 * wait for each other, and of an update, least of the rounds, and how many sockets it had opened.
 */
final class ChronicleMapMain
{
    /** What the line begins with that carries the figures. */
    static final String ANSWER = "chronicle-map: ";
    /** Never anything but 0, which the compiler does not know. */
    private static volatile long zero;
    private static final Path FILES = Path.of("/proc/self/fd");

    private final ChronicleMap<byte[], byte[]> map;
    private final byte[] key = new byte[BenchmarkRecords.KEY_BYTES];
    private final ByteBuffer keyNumber = ByteBuffer.wrap(key).order(ByteOrder.LITTLE_ENDIAN);
    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final int[] order;
    private byte[] value = new byte[BenchmarkRecords.VALUE_BYTES];

    private ChronicleMapMain(final ChronicleMap<byte[], byte[]> map, final int records)
    {
        this.map = map;
        order = BenchmarkRecords.shuffled(records);
    }

    public static void main(final String[] args) throws IOException
    {
        final int records = Integer.parseInt(args[1]);
        try (ChronicleMap<byte[], byte[]> map = ChronicleMapBuilder.of(byte[].class, byte[].class)
            .name("bench").entries(records)
            .constantKeySizeBySample(new byte[BenchmarkRecords.KEY_BYTES])
            .constantValueSizeBySample(new byte[BenchmarkRecords.VALUE_BYTES])
            .createPersistedTo(new File(args[0])))
        {
            new ChronicleMapMain(map, records).run(Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        }
    }

    private void run(final int operations, final int rounds) throws IOException
    {
        for (int number = 0; number < order.length; number++)
        {
            put(number);
        }
        double dependentGetNs = Double.MAX_VALUE;
        double getNs = Double.MAX_VALUE;
        double updateNs = Double.MAX_VALUE;
        for (int round = 0; round < rounds; round++)
        {
            dependentGetNs = Math.min(dependentGetNs, getNs(operations, -1L));
            getNs = Math.min(getNs, getNs(operations, 0));
            updateNs = Math.min(updateNs, updateNs(operations));
        }
        System.out.println(
            ANSWER + dependentGetNs + ' ' + getNs + ' ' + updateNs + ' ' + openSockets());
    }

    /** @param dependence bits of a value that decide about the next key: all or none. */
    private double getNs(final int operations, final long dependence)
    {
        final long mask = zero & dependence;
        long seen = 0;
        final long start = clock.nanoTime();
        for (int i = 0; i < operations; i++)
        {
            keyNumber.putLong(0, order[i % order.length] + (seen & mask));
            final byte[] found = map.getUsing(key, value);
            if (found == null || found.length != BenchmarkRecords.VALUE_BYTES)
            {
                throw new IllegalStateException("GET did not find record " + order[i % order.length]);
            }
            value = found;
            seen = found[0];
        }
        return (double)(clock.nanoTime() - start) / operations;
    }

    private double updateNs(final int operations)
    {
        final long start = clock.nanoTime();
        for (int i = 0; i < operations; i++)
        {
            put(order[i % order.length]);
        }
        return (double)(clock.nanoTime() - start) / operations;
    }

    private void put(final int number)
    {
        keyNumber.putLong(0, number);
        map.put(key, value);
    }

    private static int openSockets() throws IOException
    {
        int sockets = 0;
        try (Stream<Path> files = Files.list(FILES))
        {
            final List<Path> open = files.toList();
            for (final Path file : open)
            {
                sockets += isSocket(file) ? 1 : 0;
            }
        }
        return sockets;
    }

    private static boolean isSocket(final Path file)
    {
        try
        {
            return Files.readSymbolicLink(file).toString().startsWith("socket:");
        }
        catch (final IOException ex)
        {
            // Closed since it was listed: the listing's own.
            return false;
        }
    }
}

package io.verbena.load.wire;

import io.verbena.raas.RemoteRegion;
import io.verbena.rdma.verbs.DeviceAddress;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A {@link WireMemoryMain} at the far end of the wire. */
final class WireMemory implements AutoCloseable
{
    private static final int ADDRESS_WORD = 3;
    /** Of {@code /proc/PID/stat}: a hundredth of a second. */
    private static final long NS_PER_TICK = 10_000_000;

    final Process process;
    private final String[] where;

    /**
     * Starts the process.
     *
     * @param link    to the other side.
     * @param options of the far device, as they follow its address: empty, or {@code ,spin_us=50}.
     * @param stores  that have their records there.
     */
    WireMemory(final WireLink link, final String options, final int stores) throws IOException
    {
        final List<String> command = new ArrayList<>(link.farPrefix());
        command.addAll(JavaCommand.of(WireMemoryMain.class));
        command.addAll(List.of(WireLink.FAR_ADDRESS + options, Long.toString(stores * WireStore.MEMORY_BYTES)));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        final String line = lines.readLine();
        if (line == null || !line.matches("[-0-9 ]+"))
        {
            process.destroyForcibly();
            throw new IOException("the memory did not start: " + line);
        }
        where = line.split(" ");
    }

    /** Fills one of the stores, which is used by the calling thread alone. */
    WireStore store(final int index, final int records)
    {
        final DeviceAddress address =
            new DeviceAddress(Long.parseLong(where[0]), Long.parseLong(where[1]), Long.parseLong(where[2]));
        return new WireStore(WireLink.NEAR_ADDRESS, address, new RemoteRegion(
            Long.parseLong(where[ADDRESS_WORD]) + index * WireStore.MEMORY_BYTES, WireStore.MEMORY_BYTES,
            Integer.parseInt(where[ADDRESS_WORD + 2])), records);
    }

    /** Processor time of the process. */
    long cpuNs() throws IOException
    {
        return cpuNs(process.pid());
    }

    static long cpuNs(final long process) throws IOException
    {
        final String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
        final String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * NS_PER_TICK;
    }

    @Override
    public void close()
    {
        process.destroyForcibly();
    }
}

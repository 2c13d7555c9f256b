package io.verbena.load.wire;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A {@link WireMemoryMain} at the far end of the wire, and the store on this side that has its records there. */
final class WireMemory implements AutoCloseable
{
    final Process process;
    final WireStore store;

    /**
     * Starts the process and fills the store.
     *
     * @param link    to the other side.
     * @param options of the far device, as they follow its address: empty, or {@code ,spin_us=50}.
     * @param records of the store.
     */
    WireMemory(final WireLink link, final String options, final int records) throws IOException
    {
        final List<String> command = new ArrayList<>(link.farPrefix());
        command.addAll(JavaCommand.of(WireMemoryMain.class));
        command.addAll(List.of(WireLink.FAR_ADDRESS + options, Long.toString(WireStore.MEMORY_BYTES)));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        final String where = lines.readLine();
        if (where == null || !where.matches("[-0-9 ]+"))
        {
            process.destroyForcibly();
            throw new IOException("the memory did not start: " + where);
        }
        store = new WireStore(WireLink.NEAR_ADDRESS, where, records);
    }

    @Override
    public void close()
    {
        store.close();
        process.destroyForcibly();
    }
}

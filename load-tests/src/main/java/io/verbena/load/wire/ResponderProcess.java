package io.verbena.load.wire;

import io.verbena.rdma.verbs.DeviceAddress;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A {@link WireResponderMain} at the other end of a link. One thread; ends when closed, or with this process. */
final class ResponderProcess implements AutoCloseable
{
    /**
     * What a responder's thread has used since it was started.
     *
     * @param cpuNs          processor time.
     * @param allocatedBytes of garbage.
     * @param packets        sent and received.
     */
    record Counts(long cpuNs, long allocatedBytes, long packets)
    {
        Counts minus(final Counts before)
        {
            return new Counts(cpuNs - before.cpuNs, allocatedBytes - before.allocatedBytes, packets - before.packets);
        }
    }

    private final Process process;
    private final BufferedReader lines;
    private final Writer commands;
    private final String[] greeting;

    /** Starts one; the processors are those that the benchmark may use. */
    ResponderProcess(
        final WireLink link,
        final String kind,
        final int queuePairs,
        final WireOptions options,
        final String processors) throws IOException
    {
        this(link, kind, queuePairs, 0, options, processors);
    }

    /** One that loses some of the packets that it sends. */
    ResponderProcess(
        final WireLink link,
        final String kind,
        final int queuePairs,
        final int lostPerThousand,
        final WireOptions options,
        final String processors) throws IOException
    {
        final List<String> command = new ArrayList<>(link.farPrefix());
        command.addAll(WirePlaces.far(processors));
        command.addAll(JavaCommand.of(WireResponderMain.class));
        command.addAll(List.of(kind, Integer.toString(options.windowPackets()), Integer.toString(queuePairs),
            Integer.toString(lostPerThousand)));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        lines = process.inputReader(StandardCharsets.UTF_8);
        commands = process.outputWriter(StandardCharsets.UTF_8);
        greeting = lines.readLine().split(" ");
        if (greeting.length < 2 || !greeting[0].chars().allMatch(Character::isDigit))
        {
            throw new IOException("the responder did not start: " + String.join(" ", greeting));
        }
    }

    long pid()
    {
        return process.pid();
    }

    /** Its UDP port, and what else it said of itself. */
    String[] greeting()
    {
        return greeting;
    }

    /** The address of its device. */
    DeviceAddress address() throws IOException
    {
        final ByteBuffer words = ByteBuffer.wrap(InetAddress.getByName(WireLink.FAR_ADDRESS).getAddress());
        return new DeviceAddress(words.getLong(0), words.getLong(Long.BYTES), Long.parseLong(greeting[0]));
    }

    String ask(final String command) throws IOException
    {
        commands.write(command + '\n');
        commands.flush();
        final String answer = lines.readLine();
        if (answer == null || answer.startsWith("Exception"))
        {
            throw new IOException("the responder ended at '" + command + "': " + answer);
        }
        return answer;
    }

    Counts counts() throws IOException
    {
        final String[] words = ask("counts").split(" ");
        return new Counts(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
    }

    @Override
    public void close()
    {
        process.destroyForcibly();
    }
}

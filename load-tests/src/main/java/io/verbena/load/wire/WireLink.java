package io.verbena.load.wire;

import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.udp.UdpPortOptions;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The link between this process's network namespace and another one, which lives until this object is closed or this
 * process ends.
 */
final class WireLink implements AutoCloseable
{
    static final String NEAR_ADDRESS = "fd00:7665::1";
    static final String FAR_ADDRESS = "fd00:7665::2";

    private final Process holder;

    /** Makes the other namespace and the link. */
    WireLink(final int mtuBytes) throws IOException
    {
        // Its input ends with this process, and it with its input.
        holder = new ProcessBuilder("unshare", "--net", "sh", "-c",
            "echo ready; read -r _; ip link set lo up && " + setUp("far", FAR_ADDRESS, mtuBytes) +
            " && echo made; exec cat").redirectErrorStream(true).start();
        final BufferedReader lines = holder.inputReader(StandardCharsets.UTF_8);
        expect("ready", lines.readLine());
        run("ip link set lo up && ip link add near type veth peer name far && ip link set far netns " + holder.pid());
        final Writer commands = holder.outputWriter(StandardCharsets.UTF_8);
        commands.write("go\n");
        commands.flush();
        expect("made", lines.readLine());
        run(setUp("near", NEAR_ADDRESS, mtuBytes));
    }

    /**
     * Lets what leaves here pass no faster than a rate, through a queue; undone with the link.
     *
     * @param mbitPerS   rate, headers of Ethernet included.
     * @param queueBytes length of the queue.
     * @throws IOException with what {@code tc} said.
     */
    void limitRate(final int mbitPerS, final int queueBytes) throws IOException
    {
        run("tc qdisc replace dev near root tbf rate " + mbitPerS + "mbit burst 16kb limit " + queueBytes);
    }

    /** Opens a port on this side. */
    static UdpPort openNear() throws IOException
    {
        return UdpPort.open(new UdpPortOptions(InetAddress.getByName(NEAR_ADDRESS), 0));
    }

    /** The words before a command that is to run at the other end. */
    List<String> farPrefix()
    {
        return List.of("nsenter", "--net=/proc/" + holder.pid() + "/ns/net");
    }

    private static String setUp(final String device, final String address, final int mtuBytes)
    {
        return String.join(" && ",
            "ip link set " + device + " mtu " + mtuBytes,
            "ip address add " + address + "/64 dev " + device + " nodad",
            "ip link set " + device + " up");
    }

    private static void run(final String command) throws IOException
    {
        final Process process = new ProcessBuilder("sh", "-c", command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try
        {
            if (process.waitFor() != 0)
            {
                throw new IOException(command + ": " + output.strip());
            }
        }
        catch (final InterruptedException ex)
        {
            throw new IOException(command + ": interrupted", ex);
        }
    }

    private static void expect(final String wanted, final String line) throws IOException
    {
        if (!wanted.equals(line))
        {
            throw new IOException("the other network namespace cannot be made: " + line);
        }
    }

    @Override
    public void close()
    {
        holder.destroyForcibly();
    }
}

package io.verbena.rdma.roce.device;

import io.verbena.rdma.fabric.Fabrics;
import io.verbena.rdma.roce.interop.NetworkNamespace;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * Runs in a network namespace of its own, joined by veth to one that it makes: the other end's MTU shrinks, and the
 * kernel drops longer packets there without a word. Argument: a directory. Prints what becomes of writes and
 * connections. Over IPv4: Java reads IPv6 addresses from the namespace of its main thread, whichever asks.
 */
final class ShrinkingPathMain
{
    private static final int LENGTH_BYTES = 4096;
    private static final int MOST_ATTEMPTS = 4;

    private ShrinkingPathMain()
    {
    }

    public static void main(final String[] args) throws IOException, InterruptedException
    {
        final Process holder = new ProcessBuilder("unshare", "--net", "sh", "-c",
            "echo ready; read -r _; ip link set lo up && " + setUp("far", "10.76.65.2") + " && echo made; " +
            "read -r _; ip link set far mtu 1500 && echo shrunk; exec cat").redirectErrorStream(true).start();
        final BufferedReader lines = holder.inputReader(StandardCharsets.UTF_8);
        final Writer commands = holder.outputWriter(StandardCharsets.UTF_8);
        expect("ready", lines);
        final Process here = new ProcessBuilder("sh", "-c", "ip link set lo up && " +
            "ip link add near type veth peer name far && ip link set far netns " + holder.pid()).inheritIO().start();
        here.waitFor();
        step(commands);
        expect("made", lines);
        new ProcessBuilder("sh", "-c", setUp("near", "10.76.65.1")).inheritIO().start().waitFor();
        final Device near = Fabrics.open("roce:10.76.65.1,memory=" + args[0]).openDevice("near");
        final Device far = NetworkNamespace.at("/proc/" + holder.pid() + "/ns/net",
            () -> Fabrics.open("roce:10.76.65.2,memory=" + args[0]).openDevice("far"));
        final ProtectionDomain nearDomain = near.allocateProtectionDomain();
        final ProtectionDomain farDomain = far.allocateProtectionDomain();
        final MemoryRegion from = nearDomain.allocateRegistered(LENGTH_BYTES, AccessFlags.LOCAL_WRITE);
        final MemoryRegion to = farDomain.allocateRegistered(LENGTH_BYTES, AccessFlags.ALL_REMOTE);
        final RocePair pair = new RocePair(near, nearDomain, far, farDomain);
        write("before", pair, from, to);
        step(commands);
        expect("shrunk", lines);
        write("after", pair, from, to);
        for (int i = 0; i < MOST_ATTEMPTS; i++)
        {
            try
            {
                write("again", new RocePair(near, nearDomain, far, farDomain), from, to);
                break;
            }
            catch (final AssertionError ex)
            {
                System.out.println("refused " + ex.getMessage());
            }
        }
        holder.destroyForcibly();
        Runtime.getRuntime().halt(0);
    }

    private static void write(final String when, final RocePair pair, final MemoryRegion from, final MemoryRegion to)
    {
        System.out.println(when + ' ' +
            WorkCompletionStatus.text(pair.write(from, to, SendFlags.SIGNALED, LENGTH_BYTES)));
    }

    private static String setUp(final String link, final String address)
    {
        return "ip link set " + link + " mtu 9000 && ip address add " + address + "/24 dev " + link +
            " && ip link set " + link + " up";
    }

    private static void step(final Writer commands) throws IOException
    {
        commands.write("go\n");
        commands.flush();
    }

    private static void expect(final String wanted, final BufferedReader lines) throws IOException
    {
        final String line = lines.readLine();
        if (!wanted.equals(line))
        {
            throw new IOException("the other network namespace: " + line);
        }
    }
}

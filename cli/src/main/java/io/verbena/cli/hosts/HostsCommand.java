package io.verbena.cli.hosts;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.cli.console.OptionRange;
import io.verbena.cli.hosts.wire.LinkFaults;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code verbena dev hosts}. The process that the user starts holds another one in namespaces of its own, which makes
 * the hosts and is the switch between them.
 */
@Command(
    name = "hosts",
    description = {
        "Emulate N hosts on this machine, h1 to hN, until Ctrl-C or the end of COMMAND, which runs in h1: each has " +
        "its own network with an IPv6 and an IPv4 address, its own /dev/shm and its own name; disks are shared.",
        "Needs root, or a kernel that lets users make namespaces."},
    footer = {"", "With any fault, frames pass a switch in this program instead of the kernel's; it has offloads " +
        "switched off, so that a fault is one packet's.", "",
        "Examples: verbena dev hosts 3",
        "          verbena dev hosts 2 --loss 0.01 --reorder 0.01 --seed 7 -- ./verbena dev exec h2 -- ping -c 3 h1",
        "          verbena dev hosts 17 --rate 200mbit --delay 100us -- bash"})
public final class HostsCommand implements Callable<Integer>
{
    private static final int MOST_HOSTS = 64;
    private static final long POLL_MS = 20;
    private static final long END_TIMEOUT_S = 5;
    /** The least that IPv6 needs, and what nearly every device can. */
    private static final int LEAST_MTU_BYTES = 1_280;
    private static final int MOST_MTU_BYTES = 9_000;
    private static final long MOST_DELAY_NS = TimeUnit.SECONDS.toNanos(10);
    private static final Pattern DURATION = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)(us|ms|s)");
    private static final Pattern RATE = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)(kbit|mbit|gbit)");
    private static final double LEAST_RATE = 1e5;
    private static final double MOST_RATE = 1e11;
    private static final double BITS_PER_KBIT = 1e3;
    private static final double BITS_PER_MBIT = 1e6;
    private static final double BITS_PER_GBIT = 1e9;
    private static final double NS_PER_US = 1e3;
    private static final double NS_PER_MS = 1e6;
    private static final double NS_PER_S = 1e9;

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "N", description = "Number of hosts, 1 to 64.")
    private int hosts;

    @Parameters(index = "1..*", paramLabel = "-- COMMAND", arity = "0..*",
        description = "Command with its arguments; its exit status is the one of this command.")
    private List<String> command = List.of();

    @Option(names = "--loss", paramLabel = "P", defaultValue = "0",
        description = "Probability, 0 to 1, that a frame is lost on its way from one host to another.")
    private double loss;

    @Option(names = "--reorder", paramLabel = "P", defaultValue = "0",
        description = "Probability that it is held back for up to 1 ms, so that others overtake it.")
    private double reorder;

    @Option(names = "--duplicate", paramLabel = "P", defaultValue = "0",
        description = "Probability that it arrives twice.")
    private double duplicate;

    @Option(names = "--corrupt", paramLabel = "P", defaultValue = "0",
        description = "Probability that one bit behind its Ethernet header is inverted. Kernels drop what their " +
            "check sums reveal.")
    private double corrupt;

    @Option(names = "--delay", paramLabel = "TIME", defaultValue = "0us",
        description = "How long each frame is under way, such as 500us or 2ms; at most 10s.")
    private String delay;

    @Option(names = "--rate", paramLabel = "RATE",
        description = "Rate of each host's link in each direction, such as 200mbit; 100kbit to 100gbit. A queue " +
            "holds 20 ms. Default: as fast as it goes.")
    private String rate;

    @Option(names = "--seed", paramLabel = "S", defaultValue = "1",
        description = "Seed of all faults: the same frames of a link have the same fate. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(names = "--mtu", paramLabel = "BYTES", defaultValue = "1500",
        description = "MTU of each link, 1280 to 9000. Default: ${DEFAULT-VALUE}.")
    private int mtuBytes;

    @Option(names = "--name", paramLabel = "NAME", defaultValue = "dev",
        description = "Name of this set of hosts, where there are several. Default: ${DEFAULT-VALUE}.")
    private String name;

    @Option(names = "--inside", hidden = true, paramLabel = "FOLDER",
        description = "This process is alone in new namespaces; folder of the hosts.")
    private Path inside;

    @Override
    public Integer call()
    {
        OptionRange.check("number of hosts", hosts, 1, MOST_HOSTS);
        OptionRange.check("--mtu", mtuBytes, LEAST_MTU_BYTES, MOST_MTU_BYTES);
        if (!name.matches("[A-Za-z0-9_-]{1,40}"))
        {
            throw usage("--name " + name + ": must be 1 to 40 letters, digits, '-' or '_'");
        }
        final LinkFaults faults = new LinkFaults(probability("--loss", loss), probability("--duplicate", duplicate),
            probability("--corrupt", corrupt), probability("--reorder", reorder), delayNs(), rateBitsPerS(), seed);
        return null == inside ? HostNamespaces.run(name, arguments()) :
            runInside(new HostsFolder(inside), faults, spec.commandLine().getErr());
    }

    /** As typed, but for what is not needed again. */
    private List<String> arguments()
    {
        final List<String> arguments = new ArrayList<>(List.of(Integer.toString(hosts), "--loss",
            Double.toString(loss), "--reorder", Double.toString(reorder), "--duplicate", Double.toString(duplicate),
            "--corrupt", Double.toString(corrupt), "--delay", delay, "--seed", Long.toString(seed), "--mtu",
            Integer.toString(mtuBytes)));
        if (null != rate)
        {
            arguments.addAll(List.of("--rate", rate));
        }
        arguments.add("--");
        arguments.addAll(command);
        return arguments;
    }

    private int runInside(final HostsFolder folder, final LinkFaults faults, final PrintWriter err)
    {
        try (HostNetwork network = HostNetwork.open(folder, hosts, mtuBytes, faults))
        {
            if (command.isEmpty())
            {
                describe(network, folder, spec.commandLine().getOut());
            }
            final int status = await(network, folder);
            if (null != network.counts())
            {
                err.println("verbena: " + network.counts());
                err.flush();
            }
            return status;
        }
        catch (final IOException ex)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, "hosts: " + ex.getMessage(), ex);
        }
        catch (final InterruptedException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
    }

    /** Until the command has ended, or all shall end. */
    private int await(final HostNetwork network, final HostsFolder folder) throws IOException, InterruptedException
    {
        final Process process = command.isEmpty() ? null : start(folder);
        while (null == process || !process.waitFor(POLL_MS, TimeUnit.MILLISECONDS))
        {
            if (null == process)
            {
                Thread.sleep(POLL_MS);
            }
            network.pollCuts();
            if (folder.isEndRequested())
            {
                return null == process ? ExitStatus.INTERRUPTED : end(process);
            }
        }
        return process.exitValue();
    }

    private Process start(final HostsFolder folder) throws IOException
    {
        final List<String> words = new ArrayList<>(List.of(folder.script(new Host(1).name()).toString()));
        words.addAll(command);
        return new ProcessBuilder(words).inheritIO().start();
    }

    private static int end(final Process process) throws InterruptedException
    {
        process.destroy();
        return process.waitFor(END_TIMEOUT_S, TimeUnit.SECONDS) ? process.exitValue() : ExitStatus.INTERRUPTED;
    }

    private void describe(final HostNetwork network, final HostsFolder folder, final PrintWriter out)
    {
        network.hosts().forEach((host) -> out.println(host.name() + "  " + host.ipv6() + "  " + host.ipv4()));
        out.println("""
            run a command in a host:  ./verbena dev exec h1 -- COMMAND   (or %s/h1 COMMAND)
            cut and restore its link: ./verbena dev cut h1, ./verbena dev restore h1
            end all: Ctrl-C""".formatted(folder.path()));
        out.flush();
    }

    private static double probability(final String option, final double value)
    {
        if (!(value >= 0 && value <= 1))
        {
            throw usage(option + ' ' + value + ": must be 0 to 1");
        }
        return value;
    }

    private long delayNs()
    {
        final Matcher matcher = DURATION.matcher(delay);
        if (matcher.matches())
        {
            final double unitNs = switch (matcher.group(2))
            {
                case "us" -> NS_PER_US;
                case "ms" -> NS_PER_MS;
                default -> NS_PER_S;
            };
            final double delayNs = Double.parseDouble(matcher.group(1)) * unitNs;
            if (delayNs <= MOST_DELAY_NS)
            {
                return (long)delayNs;
            }
        }
        throw usage("--delay " + delay + ": must be a time such as 500us, 2ms or 1s, at most 10s");
    }

    private long rateBitsPerS()
    {
        if (null == rate)
        {
            return 0;
        }
        final Matcher matcher = RATE.matcher(rate);
        if (matcher.matches())
        {
            final double unit = switch (matcher.group(2))
            {
                case "kbit" -> BITS_PER_KBIT;
                case "mbit" -> BITS_PER_MBIT;
                default -> BITS_PER_GBIT;
            };
            final double bits = Double.parseDouble(matcher.group(1)) * unit;
            if (bits >= LEAST_RATE && bits <= MOST_RATE)
            {
                return (long)bits;
            }
        }
        throw usage("--rate " + rate + ": must be a rate such as 200mbit, from 100kbit to 100gbit");
    }

    private static CommandFailedException usage(final String message)
    {
        return new CommandFailedException(ExitStatus.USAGE, message, null);
    }
}

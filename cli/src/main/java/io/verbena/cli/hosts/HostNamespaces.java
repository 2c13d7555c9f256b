package io.verbena.cli.hosts;

import io.verbena.cli.cluster.NodeLauncher;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs this program again as the first process of new namespaces. The kernel ends it with this process, however that
 * ends, and with it every process in the namespaces, which then go by themselves.
 */
public final class HostNamespaces
{
    private static final long END_TIMEOUT_S = 10;
    private static final long TRY_TIMEOUT_S = 10;
    private static final List<String> AS_ROOT = List.of("unshare", "--net", "--mount", "--uts", "--pid", "--fork",
        "--kill-child", "--mount-proc");

    private HostNamespaces()
    {
    }

    /** @return why there can be no hosts here, in one line; null where they can be. */
    public static String refusal()
    {
        final String asRoot = failure(AS_ROOT);
        return null == asRoot ? null : null == failure(asUser()) ? null :
            "this user may not make namespaces (" + asRoot + "): run it as root, or allow user namespaces " +
            "(sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)";
    }

    private static List<String> asUser()
    {
        final List<String> command = new ArrayList<>(AS_ROOT);
        command.addAll(1, List.of("--user", "--map-root-user"));
        return command;
    }

    /** Tries what every host needs: a device, a file system of its own. */
    private static String failure(final List<String> namespaces)
    {
        final List<String> command = new ArrayList<>(namespaces);
        command.addAll(List.of("sh", "-c", "ip link add w1 type veth peer name w2 && mount -t tmpfs shm /dev/shm"));
        try
        {
            final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            process.outputWriter().close();
            final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.waitFor(TRY_TIMEOUT_S, TimeUnit.SECONDS) && 0 == process.exitValue() ? null :
                said.lines().findFirst().orElse("unshare failed");
        }
        catch (final IOException ex)
        {
            return "no program 'unshare': install the package util-linux";
        }
        catch (final InterruptedException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
    }

    /**
     * Makes hosts and waits for their end.
     *
     * @param name      of the set of hosts.
     * @param arguments of {@code dev hosts}.
     * @return its exit status.
     */
    static int run(final String name, final List<String> arguments)
    {
        final String refusal = refusal();
        if (null != refusal)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, refusal, null);
        }
        final HostsFolder folder = HostsFolder.create(name);
        final Thread end;
        final Process process;
        try
        {
            process = new ProcessBuilder(command(folder, arguments)).inheritIO().start();
            end = new Thread(() -> end(folder, process), "verbena-hosts-end");
            Runtime.getRuntime().addShutdownHook(end);
        }
        catch (final IOException ex)
        {
            folder.delete();
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, "hosts cannot be started: " + ex.getMessage() +
                ": install the package util-linux", ex);
        }
        try
        {
            return process.waitFor();
        }
        catch (final InterruptedException ex)
        {
            throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", ex);
        }
    }

    private static List<String> command(final HostsFolder folder, final List<String> arguments)
    {
        // The signal comes when this process's thread ends that starts it, which waits for it.
        final List<String> command = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL", "sh", "-c",
            "echo $$ > \"$0\" && exec \"$@\"", folder.path().resolve("namespaces").toString()));
        command.addAll(null == failure(AS_ROOT) ? AS_ROOT : asUser());
        final List<String> inside = new ArrayList<>(List.of("dev", "hosts", "--inside", folder.path().toString()));
        inside.addAll(arguments);
        // The first process of a PID namespace ignores signals for which it has no handler: Ctrl-C is for the command.
        command.addAll(NodeLauncher.commandLine(List.of("-Xrs", "-XX:+UseSerialGC", "-Xmx128m"), inside));
        return command;
    }

    private static void end(final HostsFolder folder, final Process process)
    {
        try
        {
            if (process.isAlive())
            {
                folder.requestEnd();
                process.waitFor(END_TIMEOUT_S, TimeUnit.SECONDS);
            }
            process.destroyForcibly();
            folder.delete();
        }
        catch (final InterruptedException | CommandFailedException ex)
        {
            process.destroyForcibly(); // the next start removes the folder
        }
    }
}

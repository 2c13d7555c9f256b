package io.verbena.cli.role;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.rdma.verbs.Fabric;
import io.verbena.server.HealthServer;
import io.verbena.server.Role;
import io.verbena.server.RoleRunner;
import io.verbena.server.dashboard.DashboardPages;
import io.verbena.server.dashboard.DashboardSource;

import org.agrona.CloseHelper;
import org.slf4j.LoggerFactory;

import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;

/** The life of a process that runs one role in the foreground: ready line, health endpoint, SIGTERM. Stateless. */
public final class RoleProcess
{
    /** How a line begins that says the role is ready; {@code up} waits for it. */
    public static final String READY = "ready: ";
    /** How long a role may take to be ready that has nothing to look through first. */
    static final long JOIN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    /** How long closing may take when a role has drained, or was cut off. */
    private static final long CLOSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    /** After this the user learns why it may take so long. */
    private static final long LATE_NS = TimeUnit.SECONDS.toNanos(4);

    private static final String LOG_LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

    private RoleProcess()
    {
    }

    /**
     * Waits until the process is known to who started it, and lets what runs here say what it does, on standard error;
     * before anything of it is loaded or made.
     */
    public static void begin()
    {
        LaunchGate.pass();
        System.setProperty(LOG_LEVEL, System.getProperty(LOG_LEVEL, "info"));
    }

    /**
     * Runs a role until SIGTERM, Ctrl-C, or a failure.
     *
     * @param fabric     closed at the end.
     * @param role       closed at the end.
     * @param healthPort 0 for any.
     * @param out        takes the ready line.
     * @param what       to say in it.
     * @return exit status.
     */
    static int run(
        final Fabric fabric, final Role role, final int healthPort, final PrintWriter out, final String what)
    {
        return run(fabric, role, false, JOIN_TIMEOUT_NS, healthPort, out, what, "");
    }

    /**
     * As the other one, with what runs beside the role.
     *
     * @param dashboard closed at the end, before the fabric.
     * @param beside    closed at the end, before the role; or null.
     */
    static int run(
        final Fabric fabric, final Role role, final int healthPort, final PrintWriter out, final String what,
        final DashboardSource dashboard, final AutoCloseable beside)
    {
        return run(fabric, role, false, JOIN_TIMEOUT_NS, healthPort, out, what, "", dashboard, beside);
    }

    /**
     * As the other one; the thread of the role never sleeps when {@code busyPolls}; it is ready in time, or ends.
     *
     * @param whyLate what may be the reason if it takes long, as a clause; may be empty.
     */
    static int run(
        final Fabric fabric, final Role role, final boolean busyPolls, final long readyTimeoutNs, final int healthPort,
        final PrintWriter out, final String what, final String whyLate)
    {
        return run(fabric, role, busyPolls, readyTimeoutNs, healthPort, out, what, whyLate, null, null);
    }

    private static int run(
        final Fabric fabric, final Role role, final boolean busyPolls, final long readyTimeoutNs, final int healthPort,
        final PrintWriter out, final String what, final String whyLate, final DashboardSource dashboard,
        final AutoCloseable beside)
    {
        final RoleRunner runner = RoleRunner.start(role, busyPolls);
        final long endTimeoutNs = role.drainTimeoutNs() + CLOSE_TIMEOUT_NS;
        final Thread hook = new Thread(() -> end(runner, dashboard, beside, fabric, endTimeoutNs), "verbena-shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        fabric.awaitCloseAtExit(endTimeoutNs);
        final Ending ending = () ->
        {
            removeHook(hook);
            end(runner, dashboard, beside, fabric, endTimeoutNs);
        };
        // As a resource: what cannot be closed is not to hide why the role ended.
        try (ending; HealthServer health = HealthServer.open(healthPort, role, runner::isReady, dashboard))
        {
            if (!runner.awaitReady(LATE_NS) && runner.failure().isEmpty() && !whyLate.isEmpty())
            {
                // Made now: the level is set when the process begins, and the first logger reads it.
                LoggerFactory.getLogger(RoleProcess.class).warn(
                    "{} is not ready after {} s{}", role.name(), TimeUnit.NANOSECONDS.toSeconds(LATE_NS), whyLate);
            }
            if (!runner.awaitReady(readyTimeoutNs - LATE_NS))
            {
                throw new CommandFailedException(ExitStatus.UNAVAILABLE, runner.failure().isEmpty() ?
                    role.name() + " did not become ready within " +
                    TimeUnit.NANOSECONDS.toSeconds(readyTimeoutNs) + " s" : runner.failure(), null);
            }
            out.println(READY + role.name() + ' ' + what + " health=http://localhost:" + health.port() + "/health" +
                (null == dashboard ? "" : " dashboard=http://localhost:" + health.port() + DashboardPages.PATH));
            out.flush();
            runner.awaitEnd(Long.MAX_VALUE);
            if (!runner.failure().isEmpty())
            {
                throw new CommandFailedException(
                    role.hasDiskFailed() ? ExitStatus.DISK_FAILED : ExitStatus.FAILED, runner.failure(), null);
            }
            return ExitStatus.OK;
        }
        catch (final UncheckedIOException ex)
        {
            throw new CommandFailedException(ExitStatus.UNAVAILABLE, ex.getMessage(), ex);
        }
    }

    private static void end(
        final RoleRunner runner, final DashboardSource dashboard, final AutoCloseable beside, final Fabric fabric,
        final long timeoutNs)
    {
        // First: they may wait for an answer of the role.
        CloseHelper.quietCloseAll(dashboard, beside);
        runner.stop();
        if (runner.awaitEnd(timeoutNs))
        {
            fabric.close();
        }
    }

    /** What is closed in the end, and throws nothing checked. */
    private interface Ending extends AutoCloseable
    {
        @Override
        void close();
    }

    private static void removeHook(final Thread hook)
    {
        try
        {
            Runtime.getRuntime().removeShutdownHook(hook);
        }
        catch (final IllegalStateException ex)
        {
            return; // it is running: that is how we got here
        }
    }
}

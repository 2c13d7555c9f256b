package io.verbena.protocol.bootstrap;

import io.verbena.protocol.bootstrap.BootstrapException.Reason;

import org.agrona.concurrent.SystemNanoClock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks all members of a group of meta servers side by side, each on a virtual thread and again soon after it has
 * refused: one that does not lead does not listen, and one that stands still must delay neither the answer of the
 * leader nor the next question to a member that is about to lead. One object for each question.
 */
final class GroupBootstrap
{
    /** From one question to a member to the next one. */
    private static final long PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(50);
    /** For the first answer of a member; twice as long after each time that it was too short. */
    private static final int FIRST_TIMEOUT_MS = 500;

    /** Asks one member. */
    interface Asker
    {
        BootstrapAnswer ask(ClusterAddress member, int timeoutMs);
    }

    private final ClusterAddress group;
    private final List<ClusterAddress> named;
    private final Asker asker;
    private final long endNs;
    private final CompletableFuture<BootstrapAnswer> first = new CompletableFuture<>();
    private int asking;
    private BootstrapException refusal;

    private GroupBootstrap(
        final ClusterAddress group, final List<ClusterAddress> named, final int timeoutMs, final Asker asker)
    {
        this.group = group;
        this.named = named;
        this.asker = asker;
        endNs = SystemNanoClock.INSTANCE.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    }

    /**
     * Asks until one has answered.
     *
     * @param group     address of the group, as it was given.
     * @param named     others, that the group has named: what these refuse counts for nothing.
     * @param timeoutMs for the answer of any.
     * @param asker     called by many threads.
     * @return the first answer.
     * @throws BootstrapException when there was none: the reason of a member that refused, or else of one that could
     *                            not be reached.
     */
    static BootstrapAnswer ask(
        final ClusterAddress group, final List<ClusterAddress> named, final int timeoutMs, final Asker asker)
    {
        return new GroupBootstrap(group, named, timeoutMs, asker).ask();
    }

    private BootstrapAnswer ask()
    {
        final List<ClusterAddress> members = new ArrayList<>(group.all());
        members.addAll(named);
        asking = members.size();
        for (final ClusterAddress member : members)
        {
            Thread.ofVirtual().name("verbena-bootstrap-group").start(() -> askMember(member));
        }
        try
        {
            return first.join();
        }
        catch (final CompletionException ex)
        {
            if (ex.getCause() instanceof final RuntimeException cause)
            {
                throw cause;
            }
            throw ex;
        }
    }

    private void askMember(final ClusterAddress member)
    {
        try
        {
            long memberTimeoutNs = TimeUnit.MILLISECONDS.toNanos(FIRST_TIMEOUT_MS);
            long nowNs = SystemNanoClock.INSTANCE.nanoTime();
            do
            {
                final long askedNs = nowNs;
                askOnce(member, Math.min(memberTimeoutNs, endNs - nowNs));
                nowNs = SystemNanoClock.INSTANCE.nanoTime();
                memberTimeoutNs = nowNs - askedNs < memberTimeoutNs ? memberTimeoutNs : 2 * memberTimeoutNs;
                final long pauseNs = Math.min(askedNs + PERIOD_NS, endNs) - nowNs;
                if (pauseNs > 0 && !isOver())
                {
                    LockSupport.parkNanos(pauseNs);
                    nowNs = SystemNanoClock.INSTANCE.nanoTime();
                }
            }
            while (!isOver() && endNs - nowNs > 0);
        }
        catch (final RuntimeException ex)
        {
            first.completeExceptionally(ex);
        }
        finally
        {
            end();
        }
    }

    private void askOnce(final ClusterAddress member, final long memberTimeoutNs)
    {
        try
        {
            first.complete(asker.ask(member, (int)Math.max(1, TimeUnit.NANOSECONDS.toMillis(memberTimeoutNs))));
        }
        catch (final BootstrapException ex)
        {
            onRefusal(member, ex);
        }
    }

    /** A member that was reached and refuses is no reason to wait for others that cannot be reached. */
    private synchronized boolean isOver()
    {
        return first.isDone() || null != refusal && Reason.UNREACHABLE != refusal.reason();
    }

    private synchronized void onRefusal(final ClusterAddress member, final BootstrapException ex)
    {
        final boolean isFirst = null == refusal || Reason.UNREACHABLE != ex.reason();
        refusal = isFirst && !named.contains(member) ? ex : refusal;
    }

    private synchronized void end()
    {
        asking--;
        if (0 == asking)
        {
            first.completeExceptionally(null == refusal ?
                new BootstrapException(Reason.UNREACHABLE, "no meta server of " + group + " answers", null) : refusal);
        }
    }
}

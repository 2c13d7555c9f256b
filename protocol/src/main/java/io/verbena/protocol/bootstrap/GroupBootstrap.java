package io.verbena.protocol.bootstrap;

import io.verbena.protocol.bootstrap.BootstrapException.Reason;

import org.agrona.concurrent.SystemNanoClock;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Asks all members of a group of meta servers at once, each on a virtual thread: who does not lead does not listen, and
 * one that stands still must not delay the answer of the leader. Stateless.
 */
final class GroupBootstrap
{
    /** For each member in the first round; twice as long in each that follows. */
    private static final int FIRST_TIMEOUT_MS = 500;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(50);

    /** Asks one member. */
    interface Asker
    {
        BootstrapAnswer ask(ClusterAddress member, int timeoutMs);
    }

    private GroupBootstrap()
    {
    }

    /**
     * Asks until one has answered.
     *
     * @param address   of the group.
     * @param timeoutMs after which no new round begins.
     * @param asker     called by many threads.
     * @return the first answer.
     * @throws BootstrapException when there was none: the reason of a member that refused, or else of one that could
     *                            not be reached.
     */
    static BootstrapAnswer ask(final ClusterAddress address, final int timeoutMs, final Asker asker)
    {
        final long giveUpNs = SystemNanoClock.INSTANCE.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        for (int memberTimeoutMs = FIRST_TIMEOUT_MS; true; memberTimeoutMs = Math.min(2 * memberTimeoutMs, timeoutMs))
        {
            try
            {
                return askAll(address, Math.min(memberTimeoutMs, timeoutMs), asker);
            }
            catch (final BootstrapException ex)
            {
                if (Reason.UNREACHABLE != ex.reason() || SystemNanoClock.INSTANCE.nanoTime() - giveUpNs >= 0)
                {
                    throw ex;
                }
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    private static BootstrapAnswer askAll(final ClusterAddress address, final int timeoutMs, final Asker asker)
    {
        final List<ClusterAddress> members = address.all();
        final CompletableFuture<BootstrapAnswer> first = new CompletableFuture<>();
        final AtomicInteger left = new AtomicInteger(members.size());
        final BootstrapException[] refusal = {null};
        for (final ClusterAddress member : members)
        {
            Thread.ofVirtual().name("verbena-bootstrap-group").start(() ->
            {
                try
                {
                    first.complete(asker.ask(member, timeoutMs));
                }
                catch (final BootstrapException ex)
                {
                    synchronized (refusal)
                    {
                        refusal[0] = null == refusal[0] || Reason.UNREACHABLE != ex.reason() ? ex : refusal[0];
                    }
                }
                catch (final RuntimeException ex)
                {
                    first.completeExceptionally(ex);
                }
                if (0 == left.decrementAndGet())
                {
                    synchronized (refusal)
                    {
                        first.completeExceptionally(null == refusal[0] ? new BootstrapException(
                            Reason.UNREACHABLE, "no meta server of " + address + " answers", null) : refusal[0]);
                    }
                }
            });
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
}

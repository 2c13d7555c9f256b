package io.verbena.meta.raft;

import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaCommand;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import org.agrona.concurrent.NanoClock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The state of a group of meta servers, for the one that leads it. A write is durable at a majority when it returns,
 * and fails when a later leadership has begun: then this store is of no use any more, and the next leader reads what is
 * so. One thread, that of the {@link Leadership}.
 */
public final class GroupMetaStore implements MetaStore
{
    private final GroupLog log;
    private final Leadership leadership;
    private final long number;
    private final NanoClock clock;
    private final long timeoutNs;

    /**
     * @param log        of the group.
     * @param leadership under which it writes, from now on; LEADING.
     * @param clock      of this member.
     * @param timeoutNs  after which a write has failed.
     */
    public GroupMetaStore(
        final GroupLog log, final Leadership leadership, final NanoClock clock, final long timeoutNs)
    {
        this.log = log;
        this.leadership = leadership;
        this.number = leadership.number();
        this.clock = clock;
        this.timeoutNs = timeoutNs;
    }

    @Override
    public MetaState load()
    {
        return log.state().load();
    }

    @Override
    public void write(final MetaBatch batch)
    {
        final long sentNs = clock.nanoTime();
        final CompletableFuture<Boolean> written = log.append(MetaCommand.write(number, batch));

        try
        {
            if (written.get(timeoutNs, TimeUnit.NANOSECONDS))
            {
                leadership.onConfirmed(sentNs);
                return;
            }

            throw failed("another meta server leads the group by now, and the change was not made", null);
        }
        catch (final ExecutionException ex)
        {
            throw failed("the group cannot be written to (" + ex.getCause() + ')', ex);
        }
        catch (final TimeoutException ex)
        {
            throw failed("a majority of the group did not answer within " +
                TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms", ex);
        }
        catch (final InterruptedException ex)
        {
            Thread.currentThread().interrupt();
            throw failed("interrupted", ex);
        }
    }

    private DurableWriteError failed(final String why, final Exception cause)
    {
        return new DurableWriteError(
            "leadership " + number + " ends: " + why + "; whoever leads next knows whether the last change was made",
            cause);
    }

    @Override
    public void close()
    {
        // The log is closed by who opened it.
    }
}

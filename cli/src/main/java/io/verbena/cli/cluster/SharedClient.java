package io.verbena.cli.cluster;

import io.verbena.cli.console.CommandFailedException;
import io.verbena.cli.console.ExitStatus;
import io.verbena.client.KvClient;
import io.verbena.client.KvException;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The client of commands that run one after the other in one process: it is connected by the first that needs one, and
 * anew where a command means another cluster or the last one could not reach it. Used by one thread, but {@link
 * #interrupt()}, which any may call.
 */
public final class SharedClient implements AutoCloseable
{
    private final Object lock = new Object();
    private Object target;
    private KvClient client;
    private boolean isInterrupted;

    /** A line is read: interrupts so far were not for its command. */
    public void begin()
    {
        synchronized (lock)
        {
            isInterrupted = false;
        }
    }

    /**
     * Ends the command that runs or is about to, as soon as it uses the client: closes that. One that has ended, or
     * uses none, is not affected.
     */
    public void interrupt()
    {
        final KvClient closed;
        synchronized (lock)
        {
            isInterrupted = true;
            closed = client;
            client = null;
        }
        if (null != closed)
        {
            closed.close();
        }
    }

    /** Whether there is a client. */
    public boolean isOpen()
    {
        synchronized (lock)
        {
            return null != client;
        }
    }

    /** Names of tables, for as long as there is a client. */
    public CompletableFuture<List<String>> names()
    {
        synchronized (lock)
        {
            return null == client ? CompletableFuture.completedFuture(List.of()) : client.tablesAsync();
        }
    }

    int run(final Object wanted, final Supplier<KvClient> connect, final ClientOptions.Work work)
    {
        try
        {
            return work.run(connected(wanted, connect));
        }
        catch (final KvException ex)
        {
            switch (ex.category())
            {
                case UNAVAILABLE, CLOSED, NOT_APPLIED, OUTCOME_UNKNOWN -> close(); // the next command connects anew
                default ->
                {
                }
            }
            if (isInterrupted())
            {
                throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted" +
                    (KvException.Category.OUTCOME_UNKNOWN == ex.category() ?
                        ": it is unknown whether the write was applied" : ""), ex);
            }
            throw ex;
        }
    }

    private KvClient connected(final Object wanted, final Supplier<KvClient> connect)
    {
        if (!wanted.equals(target))
        {
            close();
        }
        synchronized (lock)
        {
            if (null != client)
            {
                return client;
            }
        }
        final KvClient made = connect.get(); // not under the lock, which would keep an interrupt waiting
        synchronized (lock)
        {
            client = made;
            target = wanted;
            if (!isInterrupted)
            {
                return made;
            }
        }
        close();
        throw new CommandFailedException(ExitStatus.INTERRUPTED, "interrupted", null);
    }

    private boolean isInterrupted()
    {
        synchronized (lock)
        {
            return isInterrupted;
        }
    }

    @Override
    public void close()
    {
        final KvClient closed;
        synchronized (lock)
        {
            closed = client;
            client = null;
        }
        if (null != closed)
        {
            closed.close();
        }
    }
}

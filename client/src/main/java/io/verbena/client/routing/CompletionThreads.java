package io.verbena.client.routing;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/**
 * Where futures are completed unless the caller names an executor: each on a virtual thread of its own, which ends with
 * it. In a pool of few threads, dependent stages that block would delay the completions of all other operations, also
 * of those that they wait for. Thread-safe; nothing to close.
 */
final class CompletionThreads implements Executor
{
    static final Executor EACH_ITS_OWN = new CompletionThreads();

    private final ThreadFactory threads = Thread.ofVirtual().name("verbena-completion").factory();

    private CompletionThreads()
    {
    }

    @Override
    public void execute(final Runnable completion)
    {
        threads.newThread(completion).start();
    }

    @Override
    public String toString()
    {
        return "CompletionThreads";
    }
}

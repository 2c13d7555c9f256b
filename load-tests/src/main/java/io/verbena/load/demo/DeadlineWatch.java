package io.verbena.load.demo;

import io.verbena.client.KvClient;
import io.verbena.client.KvTable;
import org.agrona.concurrent.NanoClock;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Stands between a load and a client, and times each call of a table's operation from outside: how long the longest
 * took, however it ended, and how many ended after their deadline. Thread-safe.
 */
final class DeadlineWatch
{
    /** What the caller's thread may need to go on after the answer, on a machine that is busy: 250 ms. */
    static final long TOLERANCE_NS = TimeUnit.MILLISECONDS.toNanos(250);

    private final NanoClock clock;
    private final long timeoutNs;
    private final AtomicLong longestNs = new AtomicLong();
    private final LongAdder late = new LongAdder();

    /**
     * @param clock     to time with.
     * @param timeoutNs of operations that name none.
     */
    DeadlineWatch(final NanoClock clock, final long timeoutNs)
    {
        this.clock = clock;
        this.timeoutNs = timeoutNs;
    }

    /** @return the client, watched. */
    KvClient watch(final KvClient client)
    {
        return proxy(KvClient.class, (proxy, method, args) ->
        {
            final Object result = invoke(client, method, args);
            return result instanceof final KvTable table ? watch(table) : result;
        });
    }

    private KvTable watch(final KvTable table)
    {
        return proxy(KvTable.class, (proxy, method, args) ->
        {
            final long startNs = clock.nanoTime();
            try
            {
                final Object result = invoke(table, method, args);
                return result instanceof final KvTable other ? watch(other) : result;
            }
            finally
            {
                ended(clock.nanoTime() - startNs);
            }
        });
    }

    private void ended(final long elapsedNs)
    {
        if (elapsedNs > longestNs.get())
        {
            longestNs.accumulateAndGet(elapsedNs, Math::max);
        }
        if (elapsedNs > timeoutNs + TOLERANCE_NS)
        {
            late.increment();
        }
    }

    /** @return of all calls so far. */
    long longestNs()
    {
        return longestNs.get();
    }

    /** @return calls that ended after their deadline. */
    long late()
    {
        return late.sum();
    }

    private static <T> T proxy(final Class<T> type, final InvocationHandler handler)
    {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type}, handler));
    }

    private static Object invoke(final Object target, final Method method, final Object[] args) throws Throwable
    {
        try
        {
            return method.invoke(target, args);
        }
        catch (final InvocationTargetException ex)
        {
            throw ex.getCause();
        }
    }
}

package io.verbena.load.demo;

import io.verbena.client.KvClient;
import io.verbena.client.KvTable;
import io.verbena.load.report.Progress;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Demos with a fault between load and store, for tests of the command.
 */
public final class FaultyDemo
{
    private static final int EVERY = 50;

    private FaultyDemo()
    {
    }

    /**
     * A demo whose register clients now and then are told what they read the time before.
     */
    public static Demo withStaleReads(
        final DemoOptions options, final Progress progress, final boolean processes)
    {
        final Map<String, Object> lastReads = new ConcurrentHashMap<>();
        final AtomicInteger reads = new AtomicInteger();
        return new Demo(options, progress, client -> (KvClient)Proxy.newProxyInstance(
            FaultyDemo.class.getClassLoader(), new Class<?>[]{KvClient.class}, (proxy, method, args) ->
            {
                final Object result = invoke(client, method, args);
                return result instanceof final KvTable table ? stale(table, lastReads, reads) : result;
            }));
    }

    private static KvTable stale(final KvTable table, final Map<String, Object> lastReads, final AtomicInteger reads)
    {
        return (KvTable)Proxy.newProxyInstance(
            FaultyDemo.class.getClassLoader(), new Class<?>[]{KvTable.class}, (proxy, method, args) ->
            {
                final Object result = invoke(table, method, args);
                if (!method.getName().equals("get"))
                {
                    return result;
                }
                final String key = new String((byte[])args[0], StandardCharsets.UTF_8);
                if (!key.startsWith("register-"))
                {
                    return result;
                }
                final Object before = lastReads.put(key, result);
                return before != null && reads.incrementAndGet() % EVERY == 0 ? before : result;
            });
    }

    private static Object invoke(final Object target, final Method method, final Object[] args)
        throws Throwable
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

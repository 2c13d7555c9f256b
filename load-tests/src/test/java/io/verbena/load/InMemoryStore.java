package io.verbena.load;

import io.verbena.client.DeleteResult;
import io.verbena.client.KvClient;
import io.verbena.client.KvEntry;
import io.verbena.client.KvNoSuchTableException;
import io.verbena.client.KvTable;
import io.verbena.client.PutResult;
import io.verbena.client.ReplaceResult;
import io.verbena.client.TableOptions;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A store that is a map under one lock, with exactly the operations that the load uses; any other throws. Faults are
 * put in by {@link Interception}.
 */
public final class InMemoryStore
{
    private final Map<String, KvEntry> entries = new HashMap<>();
    private long lastVersion;

    /**
     * A client of this store.
     */
    public KvClient client()
    {
        final KvTable table = as(KvTable.class, new TableOperations());
        return as(KvClient.class, new ClientOperations(table));
    }

    /**
     * A client whose tables' calls pass through that.
     */
    public static KvClient intercepted(final KvClient client, final Interception interception)
    {
        return (KvClient)Proxy.newProxyInstance(InMemoryStore.class.getClassLoader(), new Class<?>[]{KvClient.class},
            (proxy, method, args) ->
            {
                final Object result = call(() -> method.invoke(client, args));
                return result instanceof final KvTable table ? intercepted(table, interception) : result;
            });
    }

    /** Stands between a table and its caller. */
    @FunctionalInterface
    public interface Interception
    {
        /**
         * Answers a call, with or without carrying it out.
         *
         * @param name of the operation.
         * @param args of the call.
         * @param call carries it out.
         */
        Object call(String name, Object[] args, Call call) throws Throwable;
    }

    /** The call that was intercepted. */
    @FunctionalInterface
    public interface Call
    {
        /** Carries it out. */
        Object proceed() throws Throwable;
    }

    private static KvTable intercepted(final KvTable table, final Interception interception)
    {
        return (KvTable)Proxy.newProxyInstance(InMemoryStore.class.getClassLoader(), new Class<?>[]{KvTable.class},
            (proxy, method, args) ->
                interception.call(method.getName(), args, () -> call(() -> method.invoke(table, args))));
    }

    private static Object call(final Call call) throws Throwable
    {
        try
        {
            return call.proceed();
        }
        catch (final InvocationTargetException ex)
        {
            throw ex.getCause();
        }
    }

    private static <T> T as(final Class<T> type, final Object operations)
    {
        return type.cast(Proxy.newProxyInstance(InMemoryStore.class.getClassLoader(), new Class<?>[]{type},
            (proxy, method, args) -> call(() ->
            {
                final var own = operations.getClass().getDeclaredMethod(method.getName(), method.getParameterTypes());
                own.setAccessible(true);
                return own.invoke(operations, args);
            })));
    }

    private final class ClientOperations
    {
        private final KvTable table;
        private boolean isCreated;

        private ClientOperations(final KvTable table)
        {
            this.table = table;
        }

        KvTable createTable(final String name, final TableOptions options)
        {
            isCreated = true;
            return table;
        }

        KvTable table(final String name)
        {
            if (!isCreated)
            {
                throw new KvNoSuchTableException("no table " + name);
            }
            return table;
        }
    }

    private final class TableOperations
    {
        Optional<KvEntry> get(final byte[] key)
        {
            synchronized (entries)
            {
                return Optional.ofNullable(entries.get(name(key)));
            }
        }

        long put(final byte[] key, final byte[] value)
        {
            synchronized (entries)
            {
                entries.put(name(key), new KvEntry(value, ++lastVersion));
                return lastVersion;
            }
        }

        PutResult putIfAbsent(final byte[] key, final byte[] value)
        {
            synchronized (entries)
            {
                final KvEntry present = entries.get(name(key));
                return present == null ? new PutResult(true, put(key, value)) : new PutResult(false, present.version());
            }
        }

        ReplaceResult replace(final byte[] key, final byte[] value, final long expectedVersion)
        {
            synchronized (entries)
            {
                final KvEntry present = entries.get(name(key));
                if (present == null)
                {
                    return new ReplaceResult(ReplaceResult.Outcome.NOT_FOUND, 0);
                }
                return present.version() == expectedVersion ?
                    new ReplaceResult(ReplaceResult.Outcome.REPLACED, put(key, value)) :
                    new ReplaceResult(ReplaceResult.Outcome.VERSION_MISMATCH, present.version());
            }
        }

        boolean delete(final byte[] key)
        {
            synchronized (entries)
            {
                return entries.remove(name(key)) != null;
            }
        }

        DeleteResult delete(final byte[] key, final long expectedVersion)
        {
            synchronized (entries)
            {
                final KvEntry present = entries.get(name(key));
                if (present == null)
                {
                    return new DeleteResult(DeleteResult.Outcome.NOT_FOUND, 0);
                }
                if (present.version() != expectedVersion)
                {
                    return new DeleteResult(DeleteResult.Outcome.VERSION_MISMATCH, present.version());
                }
                entries.remove(name(key));
                return new DeleteResult(DeleteResult.Outcome.DELETED, 0);
            }
        }

        private static String name(final byte[] key)
        {
            return new String(key, StandardCharsets.UTF_8);
        }
    }
}

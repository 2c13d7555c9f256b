package io.verbena.load;

import io.verbena.client.DeleteResult;
import io.verbena.client.ExpiringRecords;
import io.verbena.client.Expiry;
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
                return Optional.ofNullable(present(key));
            }
        }

        Optional<Expiry.TimeToLive> timeToLive(final byte[] key)
        {
            return get(key).map((entry) -> new Expiry.TimeToLive(entry.deadlineMs(),
                0 == entry.deadlineMs() ? 0 : Math.max(1, entry.deadlineMs() - System.currentTimeMillis())));
        }

        /** The record, if its deadline has not passed; else it is gone from now on. */
        private KvEntry present(final byte[] key)
        {
            final KvEntry entry = entries.get(name(key));
            if (null != entry && 0 != entry.deadlineMs() && System.currentTimeMillis() >= entry.deadlineMs())
            {
                entries.remove(name(key));
                return null;
            }
            return entry;
        }

        private static long deadlineMs(final Expiry expiry, final KvEntry before)
        {
            return switch (expiry)
            {
                case Expiry.At at -> at.deadline().toEpochMilli();
                case Expiry.In in -> System.currentTimeMillis() + in.timeToLive().toMillis();
                case Expiry.Keep keep -> null == before ? 0 : before.deadlineMs();
                case Expiry.Never never -> 0;
            };
        }

        long put(final byte[] key, final byte[] value)
        {
            return put(key, value, Expiry.NEVER);
        }

        long put(final byte[] key, final byte[] value, final Expiry expiry)
        {
            synchronized (entries)
            {
                entries.put(name(key), new KvEntry(value, ++lastVersion, deadlineMs(expiry, present(key))));
                return lastVersion;
            }
        }

        PutResult putIfAbsent(final byte[] key, final byte[] value)
        {
            return putIfAbsent(key, value, Expiry.NEVER);
        }

        PutResult putIfAbsent(final byte[] key, final byte[] value, final Expiry expiry)
        {
            synchronized (entries)
            {
                final KvEntry present = present(key);
                return present == null ? new PutResult(true, put(key, value, expiry)) :
                    new PutResult(false, present.version());
            }
        }

        ReplaceResult replace(final byte[] key, final byte[] value, final Expiry expiry)
        {
            synchronized (entries)
            {
                return null == present(key) ? new ReplaceResult(ReplaceResult.Outcome.NOT_FOUND, 0) :
                    new ReplaceResult(ReplaceResult.Outcome.REPLACED, put(key, value, expiry));
            }
        }

        ReplaceResult replace(final byte[] key, final byte[] value, final long expectedVersion)
        {
            synchronized (entries)
            {
                final KvEntry present = present(key);
                if (present == null)
                {
                    return new ReplaceResult(ReplaceResult.Outcome.NOT_FOUND, 0);
                }
                return present.version() == expectedVersion ?
                    new ReplaceResult(ReplaceResult.Outcome.REPLACED, put(key, value)) :
                    new ReplaceResult(ReplaceResult.Outcome.VERSION_MISMATCH, present.version());
            }
        }

        ExpiringRecords.ExpireResult expire(
            final byte[] key, final Expiry expiry, final Expiry.Condition condition)
        {
            synchronized (entries)
            {
                final KvEntry present = present(key);
                if (null == present)
                {
                    return new ExpiringRecords.ExpireResult(ExpiringRecords.ExpireResult.Outcome.NOT_FOUND, 0);
                }
                final long end = end(present.deadlineMs());
                final long newEnd = end(deadlineMs(expiry, present));
                final boolean isMet = switch (condition)
                {
                    case ALWAYS -> true;
                    case IF_NONE -> 0 == present.deadlineMs();
                    case IF_SOME -> 0 != present.deadlineMs();
                    case IF_LATER -> newEnd > end;
                    case IF_EARLIER -> newEnd < end;
                };
                return isMet ? new ExpiringRecords.ExpireResult(
                    ExpiringRecords.ExpireResult.Outcome.CHANGED, put(key, present.value(), expiry)) :
                    new ExpiringRecords.ExpireResult(
                        ExpiringRecords.ExpireResult.Outcome.CONDITION_NOT_MET, present.version());
            }
        }

        private static long end(final long deadlineMs)
        {
            return 0 == deadlineMs ? Long.MAX_VALUE : deadlineMs;
        }

        boolean delete(final byte[] key)
        {
            synchronized (entries)
            {
                return present(key) != null && entries.remove(name(key)) != null;
            }
        }

        DeleteResult delete(final byte[] key, final long expectedVersion)
        {
            synchronized (entries)
            {
                final KvEntry present = present(key);
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

package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.ConnectionRequest;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.Device;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionOpcode;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Faults that providers really have, one a factory method. */
final class Mutants
{
    private static final int FLAGS = 1;

    private Mutants()
    {
    }

    /** Changes what a poll found. */
    private abstract static class OfCompletions extends Mutant
    {
        /** One completion in columns. */
        protected record Row(
            long wrId, int status, int opcode, int byteLength, int immediate, int queuePair, int flags, int source)
        {
        }

        abstract List<Row> change(List<Row> rows);

        @Override
        Object invoke(final Object target, final Method method, final Object[] arguments, final Call call)
            throws Throwable
        {
            final Object result = call.proceed(arguments);
            if (!(target instanceof CompletionQueue) || !method.getName().equals("poll"))
            {
                return result;
            }
            final WorkCompletions batch = (WorkCompletions)arguments[0];
            final List<Row> rows = new ArrayList<>();
            for (int i = 0; i < (int)result; i++)
            {
                rows.add(new Row(batch.wrId(i), batch.status(i), batch.opcode(i), batch.byteLength(i),
                    batch.immediate(i), batch.queuePairNumber(i), batch.flags(i), batch.sourceQueuePairNumber(i)));
            }
            final List<Row> changed = change(rows);
            for (int i = 0; i < changed.size(); i++)
            {
                final Row row = changed.get(i);
                batch.set(
                    i, row.wrId, row.status, row.opcode, row.byteLength, row.immediate, row.queuePair);
                batch.setDetails(i, row.flags, row.source, 0);
            }
            return changed.size();
        }
    }

    static Mutant losesSegments()
    {
        return new Mutant()
        {
            @Override
            Object invoke(final Object target, final Method method, final Object[] arguments, final Call call)
                throws Throwable
            {
                return method.getName().equals("addSegment") ? null : call.proceed(arguments);
            }
        };
    }

    /** Only the key and the address of the first place count. */
    static Mutant takesSegmentsWithTheKeyBefore()
    {
        return new Mutant()
        {
            private Object[] first;

            @Override
            Object invoke(final Object target, final Method method, final Object[] arguments, final Call call)
                throws Throwable
            {
                if (method.getName().equals("addSegment"))
                {
                    return call.proceed(first[2], arguments[1], first[4]);
                }
                if (target instanceof QueuePair && arguments.length >= 5)
                {
                    first = arguments;
                }
                return call.proceed(arguments);
            }
        };
    }

    static Mutant dropsFlushes()
    {
        return new OfCompletions()
        {
            @Override
            List<Row> change(final List<Row> rows)
            {
                rows.removeIf(row -> row.status() == WorkCompletionStatus.WR_FLUSH_ERR);
                return rows;
            }
        };
    }

    static Mutant completesOutOfOrder()
    {
        return new OfCompletions()
        {
            private final List<Row> held = new ArrayList<>();

            @Override
            List<Row> change(final List<Row> rows)
            {
                // Keeps one back until more have come, and hands it out behind them.
                held.addAll(rows);
                if (held.size() < 2)
                {
                    return List.of();
                }
                final List<Row> reversed = new ArrayList<>(held);
                held.clear();
                Collections.reverse(reversed);
                return reversed;
            }
        };
    }

    static Mutant swapsStatus(final int from, final int to)
    {
        return new OfCompletions()
        {
            @Override
            List<Row> change(final List<Row> rows)
            {
                rows.replaceAll(row -> row.status() != from ? row : new Row(
                    row.wrId(), to, row.opcode(), row.byteLength(), row.immediate(), row.queuePair(), 0, 0));
                return rows;
            }
        };
    }

    static Mutant losesImmediates()
    {
        return new OfCompletions()
        {
            @Override
            List<Row> change(final List<Row> rows)
            {
                rows.replaceAll(row -> new Row(
                    row.wrId(), row.status(), row.opcode(), row.byteLength(), 0, row.queuePair(), 0, row.source()));
                return rows;
            }
        };
    }

    static Mutant miscountsReceivedBytes()
    {
        return new OfCompletions()
        {
            @Override
            List<Row> change(final List<Row> rows)
            {
                rows.replaceAll(row -> row.opcode() != WorkCompletionOpcode.RECV ? row : new Row(row.wrId(),
                    row.status(), row.opcode(), 64, row.immediate(), row.queuePair(), row.flags(), row.source()));
                return rows;
            }
        };
    }

    /** Gives staged requests other flags. */
    private static Mutant ofFlags(final int removed, final int added)
    {
        return new Mutant()
        {
            @Override
            Object invoke(final Object target, final Method method, final Object[] arguments, final Call call)
                throws Throwable
            {
                final boolean isStaging = target instanceof QueuePair && arguments.length > 3 &&
                    arguments[0] instanceof Long && arguments[FLAGS] instanceof Integer;
                if (isStaging)
                {
                    arguments[FLAGS] = (int)arguments[FLAGS] & ~removed | added;
                }
                return call.proceed(arguments);
            }
        };
    }

    static Mutant signalsEverything()
    {
        return ofFlags(0, SendFlags.SIGNALED);
    }

    static Mutant ignoresFences()
    {
        return ofFlags(SendFlags.FENCE, 0);
    }

    static Mutant ignoresInline()
    {
        return ofFlags(SendFlags.INLINE, 0);
    }

    static Mutant losesTheLastByteOfWrites()
    {
        return replacing(QueuePair.class, "write", (target, arguments, call) ->
        {
            final int length = (int)arguments[3];
            arguments[3] = length > 1 ? length - 1 : length;
            return call.proceed(arguments);
        });
    }

    static Mutant addsTwice()
    {
        return replacing(QueuePair.class, "fetchAdd", (target, arguments, call) ->
        {
            final Object[] silent = arguments.clone();
            silent[FLAGS] = 0;
            call.proceed(silent);
            return call.proceed(arguments);
        });
    }

    static Mutant sendsTwice()
    {
        return replacing(QueuePair.class, "send", (target, arguments, call) ->
        {
            final Object[] silent = arguments.clone();
            silent[FLAGS] = 0;
            call.proceed(silent);
            return call.proceed(arguments);
        });
    }

    /** A WRITE goes out behind the request that was posted after it. */
    static Mutant writesLate()
    {
        return new Mutant()
        {
            private Call held;
            private Object[] heldArguments;

            @Override
            Object invoke(final Object target, final Method method, final Object[] arguments, final Call call)
                throws Throwable
            {
                if (target instanceof QueuePair && method.getName().equals("write"))
                {
                    held = call;
                    heldArguments = arguments;
                    return null;
                }
                final Object result = call.proceed(arguments);
                if (held != null && method.getName().equals("writeWithImmediate"))
                {
                    held.proceed(heldArguments);
                    held = null;
                }
                return result;
            }
        };
    }

    /** Takes requests that the type of the queue pair forbids, and never tells what became of them. */
    static Mutant refusesNothing()
    {
        return new Mutant()
        {
            @Override
            Object invoke(final Object target, final Method method, final Object[] arguments, final Call call)
                throws Throwable
            {
                try
                {
                    return call.proceed(arguments);
                }
                catch (final RdmaException ex)
                {
                    return null;
                }
            }
        };
    }

    static Mutant keepsServingClosedRegions()
    {
        return replacing(MemoryRegion.class, "close", (target, arguments, call) -> null);
    }

    static Mutant givesEveryRight()
    {
        return replacing(ConnectionRequest.class, "accept", (target, arguments, call) ->
        {
            arguments[1] = AccessFlags.ALL_REMOTE;
            return call.proceed(arguments);
        });
    }

    static Mutant hidesErrors()
    {
        return replacing(QueuePair.class, "state", (target, arguments, call) ->
        {
            final Object state = call.proceed(arguments);
            return state == QueuePairState.ERR ? QueuePairState.RTS : state;
        });
    }

    static Mutant stopsNothing()
    {
        return replacing(QueuePair.class, "moveToError", (target, arguments, call) -> null);
    }

    static Mutant reclaimsSlotsAtOnce()
    {
        return replacing(QueuePair.class, "sendQueueSpace", (target, arguments, call) -> 16);
    }

    static Mutant losesEvents()
    {
        return replacing(Device.class, "pollAsyncEvent", (target, arguments, call) ->
        {
            while (call.proceed(arguments) != null)
            {
                continue;
            }
            return null;
        });
    }

    static Mutant neverWakes()
    {
        return replacing(CompletionQueue.class, "requestNotification", (target, arguments, call) -> null);
    }

    static Mutant wakesForEverything()
    {
        return replacing(CompletionQueue.class, "requestNotification", (target, arguments, call) ->
        {
            arguments[0] = false;
            return call.proceed(arguments);
        });
    }

    static Mutant bindsTheWholeRegion()
    {
        return replacing(QueuePair.class, "bindMemoryWindow", (target, arguments, call) ->
        {
            final MemoryRegion region = (MemoryRegion)arguments[4];
            arguments[5] = region.address();
            arguments[6] = region.lengthBytes();
            return call.proceed(arguments);
        });
    }

    static Mutant acceptsAnyAccessKey()
    {
        return new Mutant()
        {
            private long key;

            @Override
            Object invoke(final Object target, final Method method, final Object[] arguments, final Call call)
                throws Throwable
            {
                if (method.getName().equals("createDcTarget"))
                {
                    key = ((DcTargetOptions)arguments[0]).accessKey();
                }
                if (method.getName().equals("toDcTarget"))
                {
                    arguments[2] = key;
                }
                return call.proceed(arguments);
            }
        };
    }

    static Mutant forgetsTheLimit()
    {
        return replacing(
            SharedReceiveQueue.class, "armLimit", (target, arguments, call) -> null);
    }

    @FunctionalInterface
    private interface Replacement
    {
        Object invoke(Object target, Object[] arguments, Mutant.Call call) throws Throwable;
    }

    private static Mutant replacing(final Class<?> type, final String name, final Replacement replacement)
    {
        return new Mutant()
        {
            @Override
            Object invoke(final Object target, final Method method, final Object[] arguments, final Call call)
                throws Throwable
            {
                return type.isInstance(target) && method.getName().equals(name) ?
                    replacement.invoke(target, arguments, call) : call.proceed(arguments);
            }
        };
    }
}

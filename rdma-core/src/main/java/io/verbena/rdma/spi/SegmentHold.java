package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a segment that the caller owns from being freed: as long as it is held, {@code Arena.close()} throws
 * {@link IllegalStateException}. The JDK has one public way to do that to an arena of others: it stays open while a
 * downcall that was given the segment is under way ({@link Linker}). So a thread of its own is inside one, asleep: it
 * calls {@code bsearch}, whose comparison is an upcall that waits. One thread for each hold, a daemon with a small
 * stack.
 */
public final class SegmentHold implements AutoCloseable
{
    private static final long STACK_BYTES = 1 << 17;
    private static final Thread ANOTHER = new Thread();

    /** Made when the first segment is held: it takes a tenth of a second, and most providers only check. */
    private static final class Downcall
    {
        private static final MethodHandle BSEARCH = bind();
        private static final MemorySegment COMPARISON = comparison();
    }

    /** The thread of each arena that is held; guarded by itself. */
    private static final Map<MemorySegment.Scope, Holder> HOLDERS = new HashMap<>();

    private final MemorySegment.Scope scope;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    /** The thread inside the downcall. */
    private static final class Holder extends Thread
    {
        private final MemorySegment segment;
        private final CountDownLatch isDecided = new CountDownLatch(1);
        private volatile boolean isHeld;
        private volatile boolean isReleased;
        private int holds;

        private Holder(final MemorySegment segment)
        {
            super(null, null, "verbena-segment-hold", STACK_BYTES);
            setDaemon(true);
            this.segment = segment;
        }

        @Override
        public void run()
        {
            try
            {
                final MemorySegment _ = (MemorySegment)Downcall.BSEARCH.invokeExact(
                    segment, segment, 1L, 1L, Downcall.COMPARISON);
            }
            catch (final Throwable ex)
            {
                // Of another thread, or closed already: not held, which its creator finds out.
                isReleased = true;
            }
            finally
            {
                isDecided.countDown();
            }
        }

        private void stay()
        {
            isHeld = true;
            isDecided.countDown();
            while (!isReleased)
            {
                LockSupport.park(this);
            }
        }
    }

    private SegmentHold(final MemorySegment.Scope scope)
    {
        this.scope = scope;
    }

    /**
     * Holds a segment.
     *
     * @param segment native, of an arena that is open and that any thread may use.
     * @return the hold; the arena can be closed when it was closed.
     * @throws RdmaException when the segment cannot be held.
     */
    public static SegmentHold of(final MemorySegment segment)
    {
        checkCanBeHeld(segment);
        synchronized (HOLDERS)
        {
            Holder holder = HOLDERS.get(segment.scope());
            if (holder == null)
            {
                holder = start(segment);
                HOLDERS.put(segment.scope(), holder);
            }
            holder.holds++;
        }
        return new SegmentHold(segment.scope());
    }

    private static Holder start(final MemorySegment segment)
    {
        final Holder holder = new Holder(segment);
        holder.start();
        boolean isInterrupted = false;
        while (holder.isDecided.getCount() != 0)
        {
            try
            {
                holder.isDecided.await();
            }
            catch (final InterruptedException ex)
            {
                isInterrupted = true;
            }
        }
        if (isInterrupted)
        {
            Thread.currentThread().interrupt();
        }
        if (!holder.isHeld)
        {
            throw new RdmaException("memory was freed while being registered: segment=" + segment);
        }
        return holder;
    }

    /**
     * Checks what can be known before.
     *
     * @param segment to be held.
     * @throws RdmaException when it cannot be held.
     */
    public static void checkCanBeHeld(final MemorySegment segment)
    {
        if (!segment.isNative() || !segment.scope().isAlive())
        {
            throw new RdmaException("only native memory that is not freed can be registered: segment=" + segment);
        }
        // Any thread that is not the one of a confined arena.
        if (!segment.isAccessibleBy(ANOTHER))
        {
            throw new RdmaException(
                "memory of a confined arena cannot be registered, since it could be freed meanwhile: " +
                "use Arena.ofShared, segment=" + segment);
        }
    }

    /** Lets go, once; with the last hold of an arena it returns when the arena can be closed. */
    @Override
    public void close()
    {
        if (isClosed.compareAndSet(false, true))
        {
            synchronized (HOLDERS)
            {
                final Holder holder = HOLDERS.get(scope);
                if (--holder.holds == 0)
                {
                    HOLDERS.remove(scope);
                    end(holder);
                }
            }
        }
    }

    private static void end(final Holder holder)
    {
        holder.isReleased = true;
        LockSupport.unpark(holder);
        boolean isInterrupted = false;
        while (holder.isAlive())
        {
            try
            {
                holder.join();
            }
            catch (final InterruptedException ex)
            {
                isInterrupted = true;
            }
        }
        if (isInterrupted)
        {
            Thread.currentThread().interrupt();
        }
    }

    private static int compare(final MemorySegment key, final MemorySegment element)
    {
        ((Holder)Thread.currentThread()).stay();
        return 0;
    }

    @SuppressWarnings("restricted")
    private static MethodHandle bind()
    {
        final Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
            linker.defaultLookup().findOrThrow("bsearch"),
            FunctionDescriptor.of(
                ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
    }

    @SuppressWarnings("restricted")
    private static MemorySegment comparison()
    {
        try
        {
            final MethodHandle target = MethodHandles.lookup().findStatic(
                SegmentHold.class, "compare",
                MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class));
            return Linker.nativeLinker().upcallStub(
                target,
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS),
                Arena.global());
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new ExceptionInInitializerError(ex);
        }
    }
}

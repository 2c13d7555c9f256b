package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.CLibrary;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.AsyncEvent;
import io.verbena.rdma.verbs.AsyncEventType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * A thread that takes a device's asynchronous events as they come, acknowledges each at once, because destroying an
 * object waits for that, and keeps them for {@link io.verbena.rdma.verbs.Device#pollAsyncEvent()}. Without it an
 * overrun completion queue would look like an idle one.
 */
final class EventReader
{
    /** A queue that may overrun. */
    interface OverrunListener
    {
        void onOverrun();
    }

    /** Events that nobody polls: the oldest go. */
    private static final int MAX_EVENTS = 1024;
    private static final long FD = VerbsLayouts.offset(VerbsLayouts.IBV_CONTEXT, "async_fd");
    private static final long TYPE = VerbsLayouts.offset(VerbsLayouts.IBV_ASYNC_EVENT, "event_type");

    private final Object device;
    private final Runnable onLost;
    private final long context;
    private final int wakeDescriptor = CLibrary.eventDescriptor();
    private final Map<Long, Object> sources = new ConcurrentHashMap<>();
    private final Queue<AsyncEvent> events = new ConcurrentLinkedQueue<>();
    private final AtomicInteger eventCount = new AtomicInteger();
    private final Thread thread;
    private volatile boolean isClosed;

    /**
     * @param name    of the device.
     * @param context {@code struct ibv_context *}.
     * @param device  source of the events that concern all of it.
     * @param onLost  called when nothing completes on the device any more.
     */
    EventReader(final String name, final long context, final Object device, final Runnable onLost)
    {
        this.device = device;
        this.onLost = onLost;
        this.context = context;
        thread = Thread.ofPlatform().daemon().name("ibverbs-events-" + name).unstarted(this::run);
    }

    void start()
    {
        thread.start();
    }

    /** The object of an address of a C structure, from its creation on. */
    void add(final long pointer, final Object source)
    {
        sources.put(pointer, source);
    }

    /** Before the structure is destroyed. */
    void remove(final long pointer)
    {
        sources.remove(pointer);
    }

    Object source(final long pointer)
    {
        return sources.get(pointer);
    }

    AsyncEvent poll()
    {
        final AsyncEvent event = events.poll();
        if (event != null)
        {
            eventCount.decrementAndGet();
        }
        return event;
    }

    void close()
    {
        isClosed = true;
        CLibrary.signal(wakeDescriptor);
        boolean isInterrupted = false;
        while (thread.isAlive())
        {
            try
            {
                thread.join();
            }
            catch (final InterruptedException ex)
            {
                isInterrupted = true;
            }
        }
        CLibrary.close(wakeDescriptor);
        if (isInterrupted)
        {
            Thread.currentThread().interrupt();
        }
    }

    private void run()
    {
        final int descriptor = VerbsLayouts.intAt(context, FD);
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment event = arena.allocate(VerbsLayouts.IBV_ASYNC_EVENT);
            while (!isClosed)
            {
                if (CLibrary.awaitReadable(descriptor, wakeDescriptor, -1) && !isClosed)
                {
                    if (Libibverbs.getAsyncEvent(context, event) != 0)
                    {
                        // The kernel has taken the context away.
                        onLost.run();
                        return;
                    }
                    final int type = event.get(JAVA_INT, TYPE);
                    final long element = event.get(JAVA_LONG, 0);
                    final Object source = type(type) == null || isOfDevice(type) ? device : sources.get(element);
                    Libibverbs.acknowledgeAsyncEvent(event);
                    onEvent(type(type), source);
                }
            }
        }
    }

    private void onEvent(final AsyncEventType type, final Object source)
    {
        if (type == null || source == null)
        {
            return;
        }
        if (type == AsyncEventType.DEVICE_FATAL)
        {
            onLost.run();
        }
        if (type == AsyncEventType.CQ_ERR && source instanceof final OverrunListener queue)
        {
            queue.onOverrun();
        }
        events.add(new AsyncEvent(type, source));
        if (eventCount.incrementAndGet() > MAX_EVENTS)
        {
            poll();
        }
    }

    private static boolean isOfDevice(final int type)
    {
        return type >= 8 && type <= 10;
    }

    /** {@code enum ibv_event_type}; null for what the contract does not tell. */
    private static AsyncEventType type(final int type)
    {
        return switch (type)
        {
            case 0 -> AsyncEventType.CQ_ERR;
            case 1 -> AsyncEventType.QP_FATAL;
            case 2 -> AsyncEventType.QP_REQ_ERR;
            case 3 -> AsyncEventType.QP_ACCESS_ERR;
            case 4 -> AsyncEventType.COMM_EST;
            case 5 -> AsyncEventType.SQ_DRAINED;
            case 8 -> AsyncEventType.DEVICE_FATAL;
            case 9 -> AsyncEventType.PORT_ACTIVE;
            case 10 -> AsyncEventType.PORT_ERR;
            case 14 -> AsyncEventType.SRQ_ERR;
            case 15 -> AsyncEventType.SRQ_LIMIT_REACHED;
            case 16 -> AsyncEventType.QP_LAST_WQE_REACHED;
            default -> null;
        };
    }
}

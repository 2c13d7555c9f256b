package io.verbena.rdma.roce.udp;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

/** The memory that a thread needs to make system calls while others make them, too. */
final class ThreadCalls
{
    private static final ThreadLocal<ThreadCalls> CURRENT = ThreadLocal.withInitial(ThreadCalls::new);
    private static final int ENTRY_BYTES = 8;
    private static final int MAX_ENTRIES = 3;
    private static final int TIMEOUT_OFFSET = 32;
    private static final int EVENTS_OFFSET = 4;
    private static final int RESULT_OFFSET = 6;
    private static final long NS_PER_S = 1_000_000_000L;

    private final SocketCalls calls = new SocketCalls();
    private final UnsafeBuffer memory = new UnsafeBuffer(BufferUtil.allocateDirectAligned(64, 64));

    static ThreadCalls get()
    {
        return CURRENT.get();
    }

    SocketCalls calls()
    {
        return calls;
    }

    /**
     * Waits until one of three descriptors has something; negative ones are left out, as ppoll(2) does.
     *
     * @param first     descriptor.
     * @param second    descriptor, or negative.
     * @param third     descriptor, or negative.
     * @param timeoutNs longest wait, 0 or more.
     * @return what the first one has, {@link SocketConstants#POLLIN} and others; 0 for nothing.
     */
    int poll(final int first, final int second, final int third, final long timeoutNs)
    {
        entry(0, first);
        entry(1, second);
        entry(2, third);
        memory.putLong(TIMEOUT_OFFSET, timeoutNs / NS_PER_S);
        memory.putLong(TIMEOUT_OFFSET + Long.BYTES, timeoutNs % NS_PER_S);
        final int ready =
            calls.ppoll(memory.addressOffset(), MAX_ENTRIES, memory.addressOffset() + TIMEOUT_OFFSET);
        return ready > 0 ? memory.getShort(RESULT_OFFSET) : 0;
    }

    private void entry(final int index, final int descriptor)
    {
        memory.putInt(index * ENTRY_BYTES, descriptor);
        memory.putShort(index * ENTRY_BYTES + EVENTS_OFFSET, SocketConstants.POLLIN);
        memory.putShort(index * ENTRY_BYTES + RESULT_OFFSET, (short)0);
    }
}

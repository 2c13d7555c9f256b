package io.verbena.rdma.roce.interop;

import io.verbena.rdma.verbs.CompletionQueue;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.ProtectionDomain;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SharedReceiveQueue;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import io.verbena.rdma.verbs.WorkCompletions;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** One of two implementations that exchange packets: memory, a completion queue, and what drives it. */
abstract class InteropSide implements AutoCloseable
{
    static final int REGION_BYTES = 1 << 20;
    static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(64, 64, 0, 4);

    /** A completion as it was polled. */
    record Completion(long wrId, int status, int opcode, int bytes, int immediate, int flags, int source)
    {
        @Override
        public String toString()
        {
            return wrId + " " + WorkCompletionStatus.text(status) + " opcode " + opcode + " bytes " + bytes +
                " flags " + flags;
        }
    }

    final List<Completion> polled = new ArrayList<>();
    private final WorkCompletions batch = new WorkCompletions(32);

    abstract String name();

    /** How the other side addresses packets to this one. */
    abstract DeviceAddress address();

    abstract ProtectionDomain domain();

    abstract CompletionQueue completions();

    abstract MemoryRegion region();

    /** Lets it work; @return whether it did something. */
    abstract boolean drive();

    QueuePair createQueuePair(final QueuePairType type, final SharedReceiveQueue shared)
    {
        return domain().createQueuePair(new QueuePairOptions().type(type).completions(completions(), completions())
            .capabilities(CAPABILITIES).sharedReceiveQueue(shared));
    }

    boolean poll()
    {
        final int count = completions().poll(batch);
        for (int i = 0; i < count; i++)
        {
            polled.add(new Completion(batch.wrId(i), batch.status(i), batch.opcode(i), batch.byteLength(i),
                batch.immediate(i), batch.flags(i), batch.sourceQueuePairNumber(i)));
        }
        return count > 0;
    }

    final long at(final long offset)
    {
        return region().address() + offset;
    }

    final int key()
    {
        return region().remoteKey();
    }

    final int localKey()
    {
        return region().localKey();
    }

    final MemorySegment memory(final long offset, final long lengthBytes)
    {
        return region().segment().asSlice(offset, lengthBytes);
    }

    final long word(final long offset)
    {
        return region().segment().get(ValueLayout.JAVA_LONG, offset);
    }

    final void word(final long offset, final long value)
    {
        region().segment().set(ValueLayout.JAVA_LONG, offset, value);
    }

    @Override
    public abstract void close();

    @Override
    public final String toString()
    {
        return name();
    }
}

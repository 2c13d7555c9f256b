package io.verbena.rdma.ibverbs.library;

import io.verbena.rdma.verbs.SendFlags;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Posts the requests of a {@link SendRing} to a DC initiator, for which there is no {@code ibv_post_send}: start, for
 * each request its operation, its buffer and its target, complete. The functions are pointers in
 * {@code struct ibv_qp_ex} and {@code struct mlx5dv_qp_ex}, linked as {@link DataPath} is and for the same reason:
 * they write descriptors, and the last one rings the doorbell. From start to complete the library holds a spin lock of
 * the queue pair, which nobody else takes, as one thread posts. Owner thread only; allocates nothing.
 */
@SuppressWarnings("restricted")
public final class Mlx5SendQueue implements SendRing.Initiator
{
    private static final StructLayout EXTENDED = Mlx5Layouts.IBV_QP_EX;
    private static final StructLayout SPECIAL = Mlx5Layouts.MLX5DV_QP_EX;
    private static final long WR_ID = VerbsLayouts.offset(EXTENDED, "wr_id");
    private static final long WR_FLAGS = VerbsLayouts.offset(EXTENDED, "wr_flags");

    private static final MethodHandle PLAIN = critical(JAVA_LONG);
    private static final MethodHandle COMPLETE = Linker.nativeLinker().downcallHandle(
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG), Linker.Option.critical(false));
    private static final MethodHandle IMMEDIATE = critical(JAVA_LONG, JAVA_INT);
    private static final MethodHandle REMOTE = critical(JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final MethodHandle REMOTE_IMMEDIATE = critical(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle ADD = critical(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle SWAP = critical(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle BUFFER = critical(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final MethodHandle BUFFERS = critical(JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle INLINE = critical(JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle TARGET = critical(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);

    private final long extended;
    private final long special;
    private final MemorySegment structure;
    private final MemorySegment start;
    private final MemorySegment complete;
    private final MemorySegment read;
    private final MemorySegment write;
    private final MemorySegment writeImmediate;
    private final MemorySegment send;
    private final MemorySegment sendImmediate;
    private final MemorySegment compareSwap;
    private final MemorySegment fetchAdd;
    private final MemorySegment setBuffer;
    private final MemorySegment setBuffers;
    private final MemorySegment setInline;
    private final MemorySegment setTarget;

    /**
     * @param extended {@code struct ibv_qp_ex *} of an initiator.
     * @param special  {@code struct mlx5dv_qp_ex *} of the same one.
     */
    public Mlx5SendQueue(final long extended, final long special)
    {
        this.extended = extended;
        this.special = special;
        structure = MemorySegment.ofAddress(extended).reinterpret(EXTENDED.byteSize());
        start = function("wr_start");
        complete = function("wr_complete");
        read = function("wr_rdma_read");
        write = function("wr_rdma_write");
        writeImmediate = function("wr_rdma_write_imm");
        send = function("wr_send");
        sendImmediate = function("wr_send_imm");
        compareSwap = function("wr_atomic_cmp_swp");
        fetchAdd = function("wr_atomic_fetch_add");
        setBuffer = function("wr_set_sge");
        setBuffers = function("wr_set_sge_list");
        setInline = function("wr_set_inline_data");
        setTarget = MemorySegment.ofAddress(MemorySegment.ofAddress(special).reinterpret(SPECIAL.byteSize())
            .get(JAVA_LONG, VerbsLayouts.offset(SPECIAL, "wr_set_dc_addr")));
    }

    private MemorySegment function(final String field)
    {
        return MemorySegment.ofAddress(structure.get(JAVA_LONG, VerbsLayouts.offset(EXTENDED, field)));
    }

    @Override
    public void start()
    {
        try
        {
            PLAIN.invokeExact(start, extended);
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    @Override
    public void add(final MemorySegment slots, final long slot)
    {
        structure.set(JAVA_LONG, WR_ID, slots.get(JAVA_LONG, slot + SendRing.WR_ID));
        // That a payload is inline is said by how it is set.
        final int flags = slots.get(JAVA_INT, slot + SendRing.FLAGS);
        structure.set(JAVA_INT, WR_FLAGS, flags & ~SendFlags.INLINE);
        try
        {
            operation(slots, slot);
            final long address = slots.get(JAVA_LONG, slot + SendRing.SGE);
            final int length = slots.get(JAVA_INT, slot + SendRing.SGE_LENGTH);
            if ((flags & SendFlags.INLINE) != 0)
            {
                INLINE.invokeExact(setInline, extended, address, (long)length);
            }
            else if (slots.get(JAVA_INT, slot + SendRing.NUM_SGE) > 1)
            {
                BUFFERS.invokeExact(setBuffers, extended, (long)slots.get(JAVA_INT, slot + SendRing.NUM_SGE),
                    slots.address() + slot + SendRing.SGE);
            }
            else
            {
                // Of a length of 0 too: the library counts the calls.
                BUFFER.invokeExact(
                    setBuffer, extended, slots.get(JAVA_INT, slot + SendRing.SGE_KEY), address, length);
            }
            TARGET.invokeExact(setTarget, special, slots.get(JAVA_LONG, slot + SendRing.DC_HANDLE),
                slots.get(JAVA_INT, slot + SendRing.DC_NUMBER), slots.get(JAVA_LONG, slot + SendRing.DC_KEY));
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    private void operation(final MemorySegment slots, final long slot) throws Throwable
    {
        final int immediate = slots.get(JAVA_INT, slot + SendRing.IMMEDIATE);
        final long remote = slots.get(JAVA_LONG, slot + SendRing.REMOTE_ADDRESS);
        final int key = slots.get(JAVA_INT, slot + SendRing.REMOTE_KEY);
        switch (slots.get(JAVA_INT, slot + SendRing.OPCODE))
        {
            case SendRing.RDMA_READ -> REMOTE.invokeExact(read, extended, key, remote);
            case SendRing.RDMA_WRITE -> REMOTE.invokeExact(write, extended, key, remote);
            case SendRing.RDMA_WRITE_WITH_IMM ->
                REMOTE_IMMEDIATE.invokeExact(writeImmediate, extended, key, remote, immediate);
            case SendRing.SEND -> PLAIN.invokeExact(send, extended);
            case SendRing.SEND_WITH_IMM -> IMMEDIATE.invokeExact(sendImmediate, extended, immediate);
            case SendRing.ATOMIC_CMP_AND_SWP -> SWAP.invokeExact(
                compareSwap, extended, slots.get(JAVA_INT, slot + SendRing.ATOMIC_KEY), remote,
                slots.get(JAVA_LONG, slot + SendRing.COMPARE_ADD), slots.get(JAVA_LONG, slot + SendRing.SWAP));
            case SendRing.ATOMIC_FETCH_AND_ADD -> ADD.invokeExact(
                fetchAdd, extended, slots.get(JAVA_INT, slot + SendRing.ATOMIC_KEY), remote,
                slots.get(JAVA_LONG, slot + SendRing.COMPARE_ADD));
            default -> throw new AssertionError("staging refuses what an initiator cannot do");
        }
    }

    @Override
    public int complete()
    {
        try
        {
            return (int)COMPLETE.invokeExact(complete, extended);
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    private static MethodHandle critical(final MemoryLayout... parameters)
    {
        return Linker.nativeLinker().downcallHandle(
            FunctionDescriptor.ofVoid(parameters), Linker.Option.critical(false));
    }
}

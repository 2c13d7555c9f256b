package io.verbena.rdma.ibverbs.library;

import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The direct verbs of mlx5 RNICs that DC takes, {@code libmlx5.so.1}: the general verbs have no DC. Structures of
 * queue pairs go in, pointers come out, as with {@link Libibverbs}. Never run on an RNIC here.
 */
@SuppressWarnings("restricted")
public final class Mlx5Library
{
    public static final String LIBRARY = "libmlx5.so.1";
    public static final int IBV_QPT_DRIVER = 0xFF;
    public static final int DC_TARGET = 1;
    public static final int DC_INITIATOR = 2;

    /** What an initiator posts: the bits of WRITE to FETCH_ADD of {@code enum ibv_qp_create_send_ops_flags}. */
    public static final long SEND_OPERATIONS = 0x7F;
    private static final int IBV_QP_INIT_ATTR_PD = 1;
    private static final int IBV_QP_INIT_ATTR_SEND_OPS_FLAGS = 1 << 6;
    private static final long MLX5DV_QP_INIT_ATTR_MASK_DC = 1 << 1;
    private static final StructLayout GENERAL = Mlx5Layouts.IBV_QP_INIT_ATTR_EX;
    private static final StructLayout SPECIAL = Mlx5Layouts.MLX5DV_QP_INIT_ATTR;
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

    private final MethodHandle isSupported;
    private final MethodHandle createQueuePair;
    private final MethodHandle toExtended;
    private final MethodHandle toSpecial;

    /**
     * @param mlx5    where the functions {@code mlx5dv_*} are.
     * @param ibverbs where those of the general verbs are.
     * @throws java.util.NoSuchElementException for a library that lacks one.
     */
    public Mlx5Library(final SymbolLookup mlx5, final SymbolLookup ibverbs)
    {
        final Linker linker = Linker.nativeLinker();
        isSupported = linker.downcallHandle(
            mlx5.findOrThrow("mlx5dv_is_supported"), FunctionDescriptor.of(JAVA_BOOLEAN, JAVA_LONG));
        createQueuePair = linker.downcallHandle(
            mlx5.findOrThrow("mlx5dv_create_qp"), FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.captureCallState("errno"));
        toExtended = linker.downcallHandle(
            ibverbs.findOrThrow("ibv_qp_to_qp_ex"), FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
        toSpecial = linker.downcallHandle(
            mlx5.findOrThrow("mlx5dv_qp_ex_from_ibv_qp_ex"), FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
    }

    /** Opens the library as installed; libibverbs has loaded it already where there is an mlx5 device. */
    public static Mlx5Library open()
    {
        return new Mlx5Library(
            SymbolLookup.libraryLookup(LIBRARY, Arena.global()),
            SymbolLookup.libraryLookup(Libibverbs.LIBRARY, Arena.global()));
    }

    /** @return whether a {@code struct ibv_device *} is one of this library's. */
    public boolean isSupported(final long device)
    {
        try
        {
            return (boolean)isSupported.invokeExact(device);
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    /** @return {@code struct ibv_qp *} of an initiator, in RESET; it has no receive queue, not even a size of it. */
    public long createInitiator(
        final String what,
        final long context,
        final long pd,
        final long sendCq,
        final long receiveCq,
        final QueuePairCapabilities capabilities)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final MemorySegment general = general(
                arena, pd, sendCq, receiveCq, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS);
            general.set(JAVA_INT, VerbsLayouts.offset(GENERAL, "cap", "max_send_wr"), capabilities.maxSendRequests());
            general.set(JAVA_INT, VerbsLayouts.offset(GENERAL, "cap", "max_send_sge"), capabilities.maxSendSegments());
            general.set(
                JAVA_INT, VerbsLayouts.offset(GENERAL, "cap", "max_inline_data"), capabilities.maxInlineBytes());
            general.set(JAVA_LONG, VerbsLayouts.offset(GENERAL, "send_ops_flags"), SEND_OPERATIONS);
            return create(arena, what, context, general, special(arena, DC_INITIATOR, 0));
        }
    }

    /** @return {@code struct ibv_qp *} of a target, in RESET; its number is only known once it is in RTR. */
    public long createTarget(
        final String what, final long context, final long pd, final long cq, final long srq, final long accessKey)
    {
        try (Arena arena = Arena.ofConfined())
        {
            // A target has no send queue, but the library wants to see a completion queue for it.
            final MemorySegment general = general(arena, pd, cq, cq, IBV_QP_INIT_ATTR_PD);
            general.set(JAVA_LONG, VerbsLayouts.offset(GENERAL, "srq"), srq);
            return create(arena, what, context, general, special(arena, DC_TARGET, accessKey));
        }
    }

    private static MemorySegment general(
        final Arena arena, final long pd, final long sendCq, final long receiveCq, final int compMask)
    {
        final MemorySegment general = arena.allocate(GENERAL);
        general.set(JAVA_LONG, VerbsLayouts.offset(GENERAL, "send_cq"), sendCq);
        general.set(JAVA_LONG, VerbsLayouts.offset(GENERAL, "recv_cq"), receiveCq);
        general.set(JAVA_INT, VerbsLayouts.offset(GENERAL, "qp_type"), IBV_QPT_DRIVER);
        general.set(JAVA_INT, VerbsLayouts.offset(GENERAL, "comp_mask"), compMask);
        general.set(JAVA_LONG, VerbsLayouts.offset(GENERAL, "pd"), pd);
        return general;
    }

    private static MemorySegment special(final Arena arena, final int dcType, final long accessKey)
    {
        final MemorySegment special = arena.allocate(SPECIAL);
        special.set(JAVA_LONG, VerbsLayouts.offset(SPECIAL, "comp_mask"), MLX5DV_QP_INIT_ATTR_MASK_DC);
        special.set(JAVA_INT, VerbsLayouts.offset(SPECIAL, "dc_init_attr", "dc_type"), dcType);
        special.set(JAVA_LONG, VerbsLayouts.offset(SPECIAL, "dc_init_attr", "dct_access_key"), accessKey);
        return special;
    }

    private long create(
        final Arena arena,
        final String what,
        final long context,
        final MemorySegment general,
        final MemorySegment special)
    {
        try
        {
            final MemorySegment state = arena.allocate(CAPTURE);
            final long qp = (long)createQueuePair.invokeExact(state, context, general.address(), special.address());
            if (qp == 0)
            {
                throw Errno.failure(what + " (mlx5dv_create_qp)", state.get(JAVA_INT, ERRNO));
            }
            return qp;
        }
        catch (final RdmaException ex)
        {
            throw ex;
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }

    /** @return the way to post to an initiator made by {@link #createInitiator}. */
    public Mlx5SendQueue sendQueue(final long qp)
    {
        try
        {
            final long extended = (long)toExtended.invokeExact(qp);
            return new Mlx5SendQueue(extended, (long)toSpecial.invokeExact(extended));
        }
        catch (final Throwable ex)
        {
            throw Libibverbs.unexpected(ex);
        }
    }
}

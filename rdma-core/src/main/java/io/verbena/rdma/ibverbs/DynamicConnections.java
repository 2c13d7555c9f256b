package io.verbena.rdma.ibverbs;

import io.verbena.rdma.connection.ConnectionTransitions;
import io.verbena.rdma.ibverbs.library.Errno;
import io.verbena.rdma.ibverbs.library.Libibverbs;
import io.verbena.rdma.ibverbs.library.Mlx5Library;
import io.verbena.rdma.ibverbs.library.Mlx5SendQueue;
import io.verbena.rdma.ibverbs.library.VerbsLayouts;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAttributes;
import io.verbena.rdma.verbs.DeviceCapability;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.UnsupportedVerbException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.NoSuchElementException;
import java.util.Set;

import static java.lang.foreign.ValueLayout.JAVA_INT;

/**
 * What a device has of DC: found out by making an initiator and a target when the device is opened, because no query
 * returns it. Thread-safe.
 */
final class DynamicConnections
{
    private static final String REMEDY = "; use RC, which every RNIC has";
    private static final long DEVICE = VerbsLayouts.offset(VerbsLayouts.IBV_CONTEXT, "device");
    private static final long NUMBER = VerbsLayouts.offset(VerbsLayouts.IBV_QP, "qp_num");

    private final DeviceContext device;
    private final Mlx5Library library;
    private final String problem;

    private DynamicConnections(final DeviceContext device, final Mlx5Library library, final String problem)
    {
        this.device = device;
        this.library = library;
        this.problem = problem;
    }

    /** @param device whose port and GID are known. */
    static DynamicConnections of(final DeviceContext device)
    {
        final Mlx5Library library;
        try
        {
            library = Mlx5Library.open();
        }
        catch (final IllegalArgumentException | UnsatisfiedLinkError ex)
        {
            return new DynamicConnections(device, null, foreign(device));
        }
        catch (final NoSuchElementException ex)
        {
            return new DynamicConnections(device, null, Mlx5Library.LIBRARY + " has no DC (" + ex.getMessage() +
                "): install rdma-core 32 or newer" + REMEDY);
        }
        if (!library.isSupported(VerbsLayouts.pointerAt(device.pointer(), DEVICE)))
        {
            return new DynamicConnections(device, null, foreign(device));
        }
        final DynamicConnections wanted = new DynamicConnections(device, library, "");
        try
        {
            wanted.tryOut();
            return wanted;
        }
        catch (final RdmaException ex)
        {
            return new DynamicConnections(device, null, device.rnic() + " has no DC: " + ex.getMessage() + REMEDY);
        }
    }

    private static String foreign(final DeviceContext device)
    {
        return "DC needs an RNIC of the mlx5 driver and its library " + Mlx5Library.LIBRARY +
            " (Debian, Ubuntu: ibverbs-providers), which " + device.rnic() + " is not, or has not" + REMEDY;
    }

    /** @return empty when there is DC; else why not, and what to do. */
    String problem()
    {
        return problem;
    }

    /** @return the attributes with what was found out. */
    DeviceAttributes addTo(final DeviceAttributes plain)
    {
        if (!problem.isEmpty())
        {
            return plain;
        }
        final Set<DeviceCapability> capabilities = EnumSet.copyOf(plain.capabilities());
        capabilities.add(DeviceCapability.DC);
        return new DeviceAttributes(plain.provider(), capabilities, plain.readAfterAtomicNeedsFence(),
            plain.maxQueuePairRequests(), plain.maxCompletions(), plain.maxMessageBytes(), plain.maxInlineBytes(),
            plain.maxSendSegments(), plain.maxReadAtomic(), plain.maxSharedReceiveRequests(),
            plain.maxMemoryWindows(), plain.maxDcContexts());
    }

    private void check(final String what)
    {
        if (!problem.isEmpty())
        {
            throw new UnsupportedVerbException(what, device.name(), problem);
        }
    }

    /** @return {@code struct ibv_qp *} in RESET. */
    long createInitiator(
        final String what,
        final long pd,
        final long sendCq,
        final long receiveCq,
        final QueuePairCapabilities capabilities)
    {
        check("a DC initiator");
        return library.createInitiator(what, device.pointer(), pd, sendCq, receiveCq, capabilities);
    }

    Mlx5SendQueue sendQueue(final long qp)
    {
        return library.sendQueue(qp);
    }

    /** @return {@code struct ibv_qp *} in RTR. */
    long createTarget(final long pd, final long cq, final long srq, final long accessKey, final int accessFlags)
    {
        check("a DC target");
        final String what = "cannot create a DC target on " + device.rnic();
        final long qp = library.createTarget(what, device.pointer(), pd, cq, srq, accessKey);
        try
        {
            change(qp, new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0)
                .port(device.query().portNumber()).accessFlags(accessFlags));
            // Only what concerns this side of the way counts: the index of its GID, the hop limit.
            change(qp, new QueuePairAttributes().state(QueuePairState.RTR).destination(device.address())
                .pathMtuBytes(device.query().pathMtuBytes()).minRnrTimer(ConnectionTransitions.MIN_RNR_TIMER));
            return qp;
        }
        catch (final RdmaException ex)
        {
            Libibverbs.Destroyer.DESTROY_QP.destroy("a DC target", qp);
            throw ex;
        }
    }

    /** @return the number of a target that {@link #createTarget} made. */
    static int number(final long qp)
    {
        return VerbsLayouts.intAt(qp, NUMBER);
    }

    private void change(final long qp, final QueuePairAttributes attributes)
    {
        try (Arena arena = Arena.ofConfined())
        {
            final int errno = Libibverbs.modifyQueuePair(
                qp, QueuePairStructures.attributes(arena, device.localPort(), attributes),
                QueuePairStructures.mask(attributes));
            if (errno != 0)
            {
                throw Errno.failure(
                    "cannot change a DC target with " + ConnectionTransitions.describe(attributes), errno);
            }
        }
    }

    private void tryOut()
    {
        final String what = "probe";
        final long pd = Libibverbs.Maker.ALLOC_PD.make(what, device.pointer(), 0);
        long cq = 0;
        long srq = 0;
        try (Arena arena = Arena.ofConfined())
        {
            cq = Libibverbs.createCompletionQueue(what, device.pointer(), 1, 0);
            final MemorySegment attributes = arena.allocate(VerbsLayouts.IBV_SRQ_INIT_ATTR);
            attributes.set(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.IBV_SRQ_INIT_ATTR, "attr", "max_wr"), 1);
            attributes.set(JAVA_INT, VerbsLayouts.offset(VerbsLayouts.IBV_SRQ_INIT_ATTR, "attr", "max_sge"), 1);
            srq = Libibverbs.Maker.CREATE_SRQ.make(what, pd, attributes.address());
            Libibverbs.Destroyer.DESTROY_QP.destroy(what, createTarget(pd, cq, srq, 1, AccessFlags.ALL_REMOTE));
            Libibverbs.Destroyer.DESTROY_QP.destroy(what, createInitiator(
                what, pd, cq, cq, new QueuePairCapabilities(1, 0, 0, 0)));
        }
        finally
        {
            if (srq != 0)
            {
                Libibverbs.Destroyer.DESTROY_SRQ.destroy(what, srq);
            }
            if (cq != 0)
            {
                Libibverbs.Destroyer.DESTROY_CQ.destroy(what, cq);
            }
            Libibverbs.Destroyer.DEALLOC_PD.destroy(what, pd);
        }
    }
}

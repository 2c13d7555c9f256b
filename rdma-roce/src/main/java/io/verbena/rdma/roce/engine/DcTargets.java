package io.verbena.rdma.roce.engine;

import io.verbena.rdma.roce.wire.AethDescriptor;
import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.DcAcceptEthDescriptor;
import io.verbena.rdma.roce.wire.DcAckEthDescriptor;
import io.verbena.rdma.roce.wire.DcEthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.roce.wire.RocePath;
import io.verbena.rdma.spi.OpenChildren;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import org.agrona.collections.Int2ObjectHashMap;

import java.util.List;
import java.util.function.IntSupplier;

/**
 * The DC targets of an engine and the contexts that serve their initiators: as many at once as there are contexts,
 * which are made with the first target. The access key of every packet is checked before anything else of it. A context
 * belongs to the initiator that asked for it until that gives it back or asks for its next one, or was silent for long
 * and another one needs it: what gives it back may be lost. A late copy of an earlier request for one is recognized by
 * the number of the connection. Where none is free, nothing is answered: the initiator asks again, until its retries
 * are over.
 */
final class DcTargets
{
    private static final int MAX_MTU_CODE = 5;
    private static final int REFUSALS_AT_ONCE = 64;
    private static final long REFUSAL_INTERVAL_NS = 100_000;
    private static final int CONNECT = RoceOpcode.DC | RoceOpcode.DC_CONNECT;
    private static final int ACCEPT = RoceOpcode.DC | RoceOpcode.DC_ACCEPT;
    private static final int RELEASE = RoceOpcode.DC | RoceOpcode.DC_RELEASE;

    private final EngineContext engine;
    private final IntSupplier random;
    private final Int2ObjectHashMap<RoceDcTarget> targets = new Int2ObjectHashMap<>();
    private final RateLimit refusals = new RateLimit(REFUSALS_AT_ONCE, REFUSAL_INTERVAL_NS);
    private DcContext[] contexts = {};
    private RocePath refusalPath;

    DcTargets(final EngineContext engine, final IntSupplier random)
    {
        this.engine = engine;
        this.random = random;
    }

    /** Whether a number is of a target. */
    boolean contains(final int number)
    {
        return targets.containsKey(number);
    }

    int count()
    {
        return targets.size();
    }

    /** Opens a target while no other thread drives; the number is not in use. */
    RoceDcTarget open(final RoceProtectionDomain domain, final DcTargetOptions options, final int number)
    {
        if (options.maxReadAtomic() < 0 || options.maxReadAtomic() > EngineOptions.MAX_READ_ATOMIC)
        {
            throw new RdmaException("maxReadAtomic=" + options.maxReadAtomic() + " is not from 0 to " +
                EngineOptions.MAX_READ_ATOMIC);
        }
        final RoceDcTarget target = new RoceDcTarget(
            domain.user(), options, number, closed -> close(closed, domain));
        OpenChildren.addAll(parents(target, domain));
        if (contexts.length == 0)
        {
            contexts = new DcContext[engine.options().dcContexts()];
            for (int i = 0; i < contexts.length; i++)
            {
                contexts[i] = new DcContext(engine, i, random.getAsInt());
            }
        }
        targets.put(number, target);
        return target;
    }

    /** Fails the targets whose completions have no place any more. */
    void failOverrun()
    {
        targets.values().stream().filter(target -> target.completions().isOverrun()).toList().forEach(this::fail);
    }

    /** A target enters ERR: what its initiators had under way is lost. */
    private void fail(final RoceDcTarget target)
    {
        target.state(QueuePairState.ERR);
        for (final DcContext context : contexts)
        {
            if (context.isOf(target))
            {
                context.release();
            }
        }
    }

    private void close(final RoceDcTarget target, final RoceProtectionDomain domain)
    {
        engine.exclusively(() ->
        {
            if (targets.remove(target.number(), target))
            {
                target.state(QueuePairState.RESET);
                for (final DcContext context : contexts)
                {
                    if (context.isOf(target))
                    {
                        context.drop();
                    }
                }
                target.completions().forget(target.owner());
                OpenChildren.removeAll(parents(target, domain));
            }
        });
    }

    private static List<OpenChildren> parents(final RoceDcTarget target, final RoceProtectionDomain domain)
    {
        return List.of(domain.children(), target.receives().children(), target.completions().children());
    }

    /** Whether a packet with the number of a target is a request of DC, and the target takes some. */
    boolean takes(final int number, final int opcode)
    {
        final RoceDcTarget target = targets.get(number);
        return (RoceOpcode.traits(opcode) & RoceOpcode.HAS_DC_ETH) != 0 && target != null &&
            target.state() == QueuePairState.RTR;
    }

    /**
     * Handles a request of DC whose form and checksum are in order.
     *
     * @param number       of a target that {@link #takes} it.
     * @param packet       received.
     * @param opcode       known.
     * @param payloadBytes without padding.
     */
    void onPacket(final int number, final RocePacket packet, final int opcode, final int payloadBytes)
    {
        final RoceDcTarget target = targets.get(number);
        final int offset = RoceOpcode.dcOffset(opcode);
        if (!target.isKey(DcEthDescriptor.accessKey(packet.buffer(), offset)))
        {
            if (opcode == CONNECT)
            {
                refuse(packet, AethDescriptor.REMOTE_ACCESS_ERROR);
            }
            return;
        }
        if (opcode == CONNECT)
        {
            connect(target, packet);
            return;
        }
        final int contextNumber = DcEthDescriptor.context(packet.buffer(), offset);
        final int slot = contextNumber & (1 << EngineOptions.DC_SLOT_BITS) - 1;
        final int initiator = DcEthDescriptor.initiator(packet.buffer(), offset);
        if (slot >= contexts.length || !contexts[slot].serves(target, packet, initiator, contextNumber))
        {
            engine.counters().misdirected++;
        }
        else if (opcode == RELEASE)
        {
            contexts[slot].release();
        }
        else
        {
            contexts[slot].onRequest(packet, opcode, payloadBytes);
        }
    }

    private void connect(final RoceDcTarget target, final RocePacket packet)
    {
        final int offset = RoceOpcode.dcOffset(CONNECT);
        final int code = DcEthDescriptor.mtuCode(packet.buffer(), offset);
        final int initiator = DcEthDescriptor.initiator(packet.buffer(), offset);
        final int connection = DcEthDescriptor.context(packet.buffer(), offset);
        if (code < 1 || code > MAX_MTU_CODE)
        {
            refuse(packet, AethDescriptor.INVALID_REQUEST);
            return;
        }
        final DcContext known = find(packet, initiator);
        if (known != null && known.isFor(target, connection))
        {
            known.onAskedAgain();
            accept(known, packet);
            return;
        }
        if (known != null && connection - known.connection() <= 0 && !isSilent(known))
        {
            // A late copy: the initiator has gone on.
            engine.counters().stale++;
            return;
        }
        final DcContext context = known == null ? findFree(packet) : known;
        if (context == null)
        {
            engine.counters().contextsMissed++;
            return;
        }
        if (!context.isFree())
        {
            context.release();
        }
        context.open(target, packet, initiator, connection,
            Math.min(DcEthDescriptor.mtuBytes(code), ownMtuBytes()),
            BthDescriptor.sequence(packet.buffer(), 0));
        accept(context, packet);
    }

    private int ownMtuBytes()
    {
        return DcEthDescriptor.mtuBytes(DcEthDescriptor.mtuCode(engine.options().datagramBytes()));
    }

    /** The context that an initiator has, or the last one that it had, unless that has served another one since. */
    private DcContext find(final RocePacket packet, final int initiator)
    {
        for (final DcContext context : contexts)
        {
            if (context.isOfInitiator(packet, initiator))
            {
                return context;
            }
        }
        return null;
    }

    private boolean isSilent(final DcContext context)
    {
        return engine.nowNs() - context.heardNs() >= EngineOptions.DC_SILENCE_NS;
    }

    /** One that nobody has, best of all one that answers to the same device; else one whose initiator is silent. */
    private DcContext findFree(final RocePacket packet)
    {
        DcContext free = null;
        DcContext silent = null;
        for (final DcContext context : contexts)
        {
            if (context.isFree())
            {
                free = free == null || context.isBack(packet) ? context : free;
            }
            else if (silent == null || context.heardNs() - silent.heardNs() < 0)
            {
                silent = context;
            }
        }
        return free == null && silent != null && isSilent(silent) ? silent : free;
    }

    private void accept(final DcContext context, final RocePacket request)
    {
        answer(request, context.route().outbound(), AethDescriptor.ACK_WITHOUT_CREDITS, context.contextNumber(),
            DcEthDescriptor.mtuCode(context.route().mtu()), context.readAtomicDepth());
    }

    /** Makes no state, and not many answers, whatever comes. */
    private void refuse(final RocePacket request, final int syndrome)
    {
        engine.counters().refused++;
        if (refusals.take(engine.nowNs()))
        {
            if (!request.isAnsweredBy(refusalPath))
            {
                refusalPath = request.wayBack();
            }
            answer(request, refusalPath, syndrome, 0, 0, 0);
        }
    }

    private void answer(
        final RocePacket request,
        final RocePath path,
        final int syndrome,
        final int contextNumber,
        final int mtuCode,
        final int depth)
    {
        final RocePacket packet = engine.writer().claim();
        if (packet != null)
        {
            final int asked = RoceOpcode.dcOffset(CONNECT);
            final int ack = RoceOpcode.dcOffset(ACCEPT);
            AethDescriptor.encode(packet.buffer(), BthDescriptor.LENGTH_BYTES, syndrome, 0);
            DcAckEthDescriptor.encode(packet.buffer(), ack, contextNumber);
            DcAcceptEthDescriptor.encode(packet.buffer(), ack + DcAckEthDescriptor.LENGTH_BYTES,
                DcEthDescriptor.context(request.buffer(), asked), mtuCode, depth);
            engine.writer().send(packet, path, null, ACCEPT, 0, DcEthDescriptor.initiator(request.buffer(), asked),
                false, false, BthDescriptor.sequence(request.buffer(), 0));
        }
    }

    /** Lets something happen so often at once, and once more after each interval. Used by the engine's thread. */
    static final class RateLimit
    {
        private final long burstNs;
        private final long intervalNs;
        private long usedUpNs;

        RateLimit(final int burst, final long intervalNs)
        {
            burstNs = (burst - 1) * intervalNs;
            this.intervalNs = intervalNs;
            usedUpNs = Long.MIN_VALUE / 2;
        }

        /** Whether it may happen now; counts it. */
        boolean take(final long nowNs)
        {
            final boolean isAllowed = usedUpNs - nowNs <= burstNs;
            if (isAllowed)
            {
                usedUpNs = Math.max(usedUpNs, nowNs) + intervalNs;
            }
            return isAllowed;
        }
    }
}

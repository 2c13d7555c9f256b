package io.verbena.rdma.sim.device;

import io.verbena.rdma.sim.schedule.RnicModel;
import io.verbena.rdma.sim.schedule.SimStep;
import io.verbena.rdma.sim.schedule.SimTimeline;
import io.verbena.rdma.spi.AccessChecks;
import io.verbena.rdma.verbs.QueuePairType;

import org.agrona.collections.Long2LongHashMap;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Function;

/**
 * The NIC of one simulated device: a cache of queue pair contexts, processing units, a doorbell register, the unit for
 * atomics, and both directions of a link. Each is a resource that is busy until some virtual time.
 */
final class Rnic
{
    private static final long MISSING = -1;
    /** Marks contexts that a responder has for connections of DC initiators. */
    private static final long DC_CONTEXT = 1L << 62;
    /** How far units may be ahead of the link, and the link of the units. */
    private static final long WINDOW_NS = 1_000;

    /** Packets of one READ response; goes to its requester's NIC turn by turn. */
    private static final class Response
    {
        private final SimRequest request;
        private final long context;
        private int packetsLeft;
        private int bytesLeft;

        private Response(final SimRequest request, final long context, final int packets)
        {
            this.request = request;
            this.context = context;
            this.packetsLeft = packets;
            this.bytesLeft = request.lengthBytes;
        }
    }

    /** Packets of one turn on their way in. */
    private record Burst(SimRequest request, int packets, int bytes, long wireNs, boolean isLast)
    {
    }

    private final Function<SimHost, Rnic> others;
    private final SimTimeline timeline;
    private final SimHost host;
    private final RnicModel model;
    private final SplittableRandom replacement;
    private final long[] unitFreeNs;
    private final long[] fetchFreeNs;
    private final long[] cached;
    private final Long2LongHashMap slots = new Long2LongHashMap(MISSING);
    private final ArrayDeque<Response> responses = new ArrayDeque<>();
    private final ArrayDeque<Rnic> paused = new ArrayDeque<>();
    private final ArrayDeque<Burst> arriving = new ArrayDeque<>();
    private long doorbellFreeNs;
    private long atomicFreeNs;
    private long sendFreeNs;
    private long lastPostNs;
    private int lastPostNumber;
    private boolean isSending;
    private boolean isReceiving;
    /** Sent to this NIC and not taken in. */
    private long waitingBytes;
    private long receivedBytes;
    private long hits;
    private long misses;

    Rnic(final Function<SimHost, Rnic> others, final SimHost host, final RnicModel model)
    {
        this.others = others;
        this.timeline = host.timeline();
        this.host = host;
        this.model = model;
        this.replacement = new SplittableRandom(host.index());
        this.unitFreeNs = new long[model.processingUnits()];
        this.fetchFreeNs = new long[model.qpContextFetches()];
        this.cached = new long[model.qpContextCacheEntries()];
    }

    /** Payload of READ responses. */
    long receivedBytes()
    {
        return receivedBytes;
    }

    long hits()
    {
        return hits;
    }

    long misses()
    {
        return misses;
    }

    /** A request is on its way once the NIC has heard of it and has read it from host memory. */
    void send(final SimRequest request)
    {
        // What one queue pair launches at one time has been posted with one doorbell.
        final int number = request.requester.number();
        if (lastPostNs != timeline.nowNs() || lastPostNumber != number)
        {
            doorbellFreeNs = Math.max(doorbellFreeNs, timeline.nowNs()) + model.doorbellNs();
            lastPostNs = timeline.nowNs();
            lastPostNumber = number;
        }
        at(Math.max(doorbellFreeNs, timeline.nowNs()) + model.dmaReadNs(), () -> depart(request));
    }

    private void depart(final SimRequest request)
    {
        final SimRequest.Requester requester = request.requester;
        long readyNs = process(
            withContext(timeline.nowNs(), requester.number()),
            model.workRequestNs() + (request.connects ? model.dcConnectNs() : 0));
        int packets = 1;
        int payloadBytes = requester.type() == QueuePairType.UD ? model.udHeaderBytes() : 0;
        if (!request.isReadOrAtomic())
        {
            payloadBytes += request.lengthBytes;
            packets = model.packets(request.lengthBytes);
            readyNs = process(readyNs, packets * model.packetNs()) + model.dmaReadNs();
        }
        // The packet that connects goes ahead, its request follows without waiting.
        sendFreeNs =
            Math.max(sendFreeNs, readyNs) + model.wireNs(payloadBytes, packets + (request.connects ? 1 : 0));
        final long arrivalNs = sendFreeNs + model.linkLatencyNs();
        if (AccessChecks.answersRefusals(requester.type()))
        {
            requester.scheduleArrival(request, arrivalNs);
            return;
        }
        requester.left(request, sendFreeNs + model.dmaWriteNs());
        final SimHost target = request.target();
        if (target == null)
        {
            requester.scheduleArrival(request, arrivalNs);
        }
        else
        {
            at(arrivalNs, () -> requester.scheduleArrival(request, others.apply(target).takeIn(request)));
        }
    }

    /** A message that is not answered costs its receiver what an answer would. @return when it is in memory. */
    private long takeIn(final SimRequest request)
    {
        return process(withContext(timeline.nowNs(), contextAtTarget(request)), model.workRequestNs()) +
            model.dmaWriteNs();
    }

    /** Time of a packet without payload. */
    long controlNs()
    {
        return model.wireNs(0, 1) + model.linkLatencyNs();
    }

    private static long contextAtTarget(final SimRequest request)
    {
        final SimRequest.Requester requester = request.requester;
        return switch (requester.type())
        {
            case RC, UC -> request.connection.executor() == null ? 0 : request.connection.executor().number();
            case UD -> request.destination.number();
            case DC_INITIATOR -> DC_CONTEXT | (long)requester.host().index() << 32 | requester.number();
        };
    }

    /** A request was executed in the memory of this NIC's host: answers it. */
    void respond(final SimRequest request)
    {
        final long context = contextAtTarget(request);
        if (request.connects && slots.get(context) == MISSING)
        {
            // Made on the NIC, by the connect packet.
            hold(context);
        }
        long readyNs = process(withContext(timeline.nowNs(), context), model.workRequestNs());
        if (request.isAtomic())
        {
            atomicFreeNs = Math.max(atomicFreeNs, readyNs) + model.atomicNs();
            readyNs = atomicFreeNs;
        }
        final boolean isData = request.isReadOrAtomic() && !request.isAtomic();
        final Response response = new Response(request, context, isData ? model.packets(request.lengthBytes) : 1);
        at(readyNs + (isData ? model.dmaReadNs() : 0), () ->
        {
            responses.add(response);
            if (!isSending)
            {
                isSending = true;
                sendNext();
            }
        });
    }

    /** The response whose turn it is sends some packets, then the next one has its turn. */
    private void sendNext()
    {
        final Response response = responses.peek();
        if (response == null)
        {
            isSending = false;
            return;
        }
        final Rnic target = others.apply(response.request.requester.host());
        if (target.waitingBytes >= model.switchBufferBytes())
        {
            target.paused.add(this);
            return;
        }
        responses.poll();
        final int packets = Math.min(response.packetsLeft, model.arbitrationPackets());
        final int bytes = Math.min(response.bytesLeft, packets * model.mtuBytes());
        final long wireNs = model.wireNs(bytes, packets);
        final long readyNs = process(
            withContext(timeline.nowNs(), response.context), packets * model.packetNs());
        sendFreeNs = Math.max(sendFreeNs, readyNs) + wireNs;
        response.packetsLeft -= packets;
        response.bytesLeft -= bytes;
        final Burst burst = new Burst(response.request, packets, bytes, wireNs, response.packetsLeft == 0);
        target.waitingBytes += bytes;
        at(sendFreeNs - wireNs + model.linkLatencyNs(), () -> target.arrive(burst));
        if (response.packetsLeft > 0)
        {
            responses.add(response);
        }
        at(Math.max(timeline.nowNs(), sendFreeNs - WINDOW_NS), this::sendNext);
    }

    private void arrive(final Burst burst)
    {
        arriving.add(burst);
        if (!isReceiving)
        {
            isReceiving = true;
            receiveNext();
        }
    }

    /** Takes what comes in at the speed of the link, and no faster than the units get along. */
    private void receiveNext()
    {
        final Burst burst = arriving.poll();
        if (burst == null)
        {
            isReceiving = false;
            return;
        }
        waitingBytes -= burst.bytes;
        receivedBytes += burst.bytes;
        if (!paused.isEmpty() && waitingBytes < model.switchBufferBytes())
        {
            paused.poll().sendNext();
        }
        at(timeline.nowNs() + burst.wireNs, () ->
        {
            final SimRequest.Requester requester = burst.request.requester;
            final long doneNs = process(
                withContext(timeline.nowNs(), requester.number()), burst.packets * model.packetNs());
            if (burst.isLast)
            {
                at(doneNs + model.dmaWriteNs(), () -> requester.responseIsHere(burst.request));
            }
            at(Math.max(timeline.nowNs(), doneNs - WINDOW_NS), this::receiveNext);
        });
    }

    /** @return when a context is on the NIC. */
    private long withContext(final long readyNs, final long context)
    {
        if (slots.get(context) != MISSING)
        {
            hits++;
            return readyNs;
        }
        misses++;
        hold(context);
        return use(fetchFreeNs, readyNs, model.qpContextMissNs());
    }

    private void hold(final long context)
    {
        final int size = slots.size();
        final int slot = size < cached.length ? size : replacement.nextInt(cached.length);
        if (size == cached.length)
        {
            slots.remove(cached[slot]);
        }
        cached[slot] = context;
        slots.put(context, slot);
    }

    private long process(final long readyNs, final long durationNs)
    {
        return use(unitFreeNs, readyNs, durationNs);
    }

    /** Occupies the one of several equal resources that is free first. @return until when. */
    private static long use(final long[] freeNs, final long readyNs, final long durationNs)
    {
        int first = 0;
        for (int i = 1; i < freeNs.length; i++)
        {
            first = freeNs[i] < freeNs[first] ? i : first;
        }
        freeNs[first] = Math.max(freeNs[first], readyNs) + durationNs;
        return freeNs[first];
    }

    private void at(final long timeNs, final Runnable action)
    {
        timeline.schedule(timeNs, SimStep.Kind.RNIC, host.index(), 0, action);
    }

    @Override
    public String toString()
    {
        return "Rnic{device=" + host.name() + ", contexts=" + slots.size() + ", hits=" + hits + ", misses=" + misses +
            ", unitFreeNs=" + Arrays.toString(unitFreeNs) + '}';
    }
}

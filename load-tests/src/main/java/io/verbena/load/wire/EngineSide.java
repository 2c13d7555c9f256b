package io.verbena.load.wire;

import io.verbena.rdma.roce.engine.EngineDriver;
import io.verbena.rdma.roce.engine.EngineOptions;
import io.verbena.rdma.roce.engine.RoceCompletionQueue;
import io.verbena.rdma.roce.engine.RoceEngine;
import io.verbena.rdma.roce.engine.RoceProtectionDomain;
import io.verbena.rdma.roce.engine.RoceQueuePair;
import io.verbena.rdma.roce.udp.PacketHandler;
import io.verbena.rdma.roce.udp.UdpPort;
import io.verbena.rdma.roce.wire.PacketSink;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.MemoryRegion;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairCapabilities;
import io.verbena.rdma.verbs.QueuePairOptions;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.SystemNanoClock;

import java.util.Arrays;
import java.util.stream.Collectors;

/** An engine on a UDP port with memory and a few queue pairs, all used by one thread. */
final class EngineSide
{
    /** Queue pairs of the measurements between two. */
    static final int QUEUE_PAIRS = 4;
    static final int REGION_BYTES = 2 << 20;

    private static final int DEPTH = 256;
    private static final int READS = 16;
    /** 4.2 s until the first repetition would hide a lost packet; 67 ms shows it as a bad round. */
    private static final int TIMEOUT = 14;

    final UdpPort port;
    final MemoryRegion region;
    final RoceCompletionQueue completions;
    final RoceQueuePair[] queuePairs;
    /** The engine asks for each packet; once for all that have arrived is enough. */
    private final CachedNanoClock clock = new CachedNanoClock();
    private final RoceEngine engine;
    private final PacketHandler handler;
    private int lastNumber = 16;

    /** @param sink where packets go: the port, or what loses some of them before. */
    EngineSide(final UdpPort port, final PacketSink sink, final int windowPackets, final int queuePairCount)
    {
        this.port = port;
        queuePairs = new RoceQueuePair[queuePairCount];
        final EngineOptions options = new EngineOptions(
            port.address(), windowPackets, EngineOptions.ACK_INTERVAL, RocePacket.MAX_PAYLOAD_BYTES);
        engine = new RoceEngine(options, sink, clock, () -> ++lastNumber, EngineDriver.NONE);
        handler = engine::onPacket;
        final RoceProtectionDomain domain = engine.createProtectionDomain();
        region = domain.allocateRegistered(REGION_BYTES, AccessFlags.ALL_REMOTE);
        completions = engine.createCompletionQueue(queuePairCount * DEPTH, null);
        for (int i = 0; i < queuePairCount; i++)
        {
            queuePairs[i] = domain.createQueuePair(new QueuePairOptions().type(QueuePairType.RC)
                .completions(completions, completions)
                .capabilities(new QueuePairCapabilities(DEPTH, DEPTH, DEPTH, 4)));
        }
    }

    /** Memory and queue pairs as words. */
    String describe()
    {
        return region.address() + " " + region.remoteKey() + " " + Arrays.stream(queuePairs)
            .map(queuePair -> Integer.toString(queuePair.number())).collect(Collectors.joining(" "));
    }

    /** Connects queue pairs from {@code first} on with those of a peer. */
    void connect(final int first, final DeviceAddress peer, final int[] numbers, final int pathMtuBytes)
    {
        for (int i = 0; i < numbers.length; i++)
        {
            final RoceQueuePair queuePair = queuePairs[first + i];
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1)
                .accessFlags(AccessFlags.ALL_REMOTE));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR).destination(peer)
                .pathMtuBytes(pathMtuBytes).destinationNumber(numbers[i]).rqPsn(0)
                .maxDestinationReadAtomic(READS).minRnrTimer(1));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sqPsn(0)
                .timeout(TIMEOUT).retryCount(7).rnrRetry(7).maxReadAtomic(READS));
        }
    }

    /** The command that connects a responder's queue pairs from {@code first} on with these. */
    String connectCommand(final int first, final int pathMtuBytes)
    {
        final DeviceAddress self = port.address();
        return "connect " + first + " " + self.gidHigh() + " " + self.gidLow() + " " + self.serviceLocator() + " " +
            pathMtuBytes + " " + describe().split(" ", 3)[2];
    }

    /** Sends what was posted, as the provider does before it looks for packets. */
    void send()
    {
        clock.update(SystemNanoClock.INSTANCE.nanoTime());
        engine.doWork();
        port.flush();
    }

    /** Receives, answers, sends; returns whether there was something. */
    boolean work()
    {
        clock.update(SystemNanoClock.INSTANCE.nanoTime());
        final int received = port.receive(handler);
        final int worked = engine.doWork();
        port.flush();
        return received + worked > 0;
    }

    @Override
    public String toString()
    {
        return engine.counters() + " " + port.counters();
    }
}

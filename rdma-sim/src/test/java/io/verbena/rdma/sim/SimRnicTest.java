package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.RnicModel;
import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.DcTarget;
import io.verbena.rdma.verbs.DcTargetOptions;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

import static org.assertj.core.api.Assertions.assertThat;

/** What the cost model predicts for DC, UD and UC; RC is with its values, in {@code RnicModelTest}. */
class SimRnicTest
{
    private static final long ACCESS_KEY = 3;
    private static final int WRITES = 16;

    private static RnicModel model(final String... changes)
    {
        try (InputStream file = RnicModel.class.getResourceAsStream(RnicModel.CONNECTX3_ROCE + ".properties"))
        {
            final Properties properties = new Properties();
            properties.load(file);
            for (int i = 0; i < changes.length; i += 2)
            {
                properties.setProperty(changes[i], changes[i + 1]);
            }
            return RnicModel.of(properties);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /** Time of 8-byte WRITEs with one doorbell; after every so many of them the target changes. */
    private static long dcNs(final RnicModel model, final int count, final int writesPerTarget)
    {
        try (SimPair pair = new SimPair(1, SimFabricOptions.calm().rnicModel(model)))
        {
            final DcTarget[] targets = new DcTarget[2];
            for (int i = 0; i < targets.length; i++)
            {
                targets[i] = pair.b.domain.createDcTarget(new DcTargetOptions(
                    pair.b.completions, pair.b.domain.createSharedReceiveQueue(1), ACCESS_KEY, AccessFlags.ALL_REMOTE,
                    4));
            }
            final QueuePair queuePair = pair.a.queuePair(QueuePairType.DC_INITIATOR, null);
            SimPair.raise(queuePair, pair.b, 0);
            final AddressHandle handle = pair.a.domain.createAddressHandle(pair.b.device.address());
            queuePair.begin();
            for (int i = 0; i < count; i++)
            {
                queuePair.write(i, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), pair.b.at(0), pair.b.key());
                queuePair.toDcTarget(handle, targets[i / writesPerTarget % 2].number(), ACCESS_KEY);
            }
            return timeNs(pair, queuePair, count);
        }
    }

    private static long timeNs(final SimPair pair, final QueuePair queuePair, final int count)
    {
        final long startNs = pair.fabric.clock().nanoTime();
        queuePair.complete();
        int done = 0;
        while (done < count)
        {
            assertThat(pair.fabric.step()).isTrue();
            done += (int)pair.a.poll().stream().filter(one -> one.status().equals("success")).count();
        }
        return pair.fabric.clock().nanoTime() - startNs;
    }

    @Test
    void shouldPayForEachChangeOfTheTarget()
    {
        final long never = dcNs(model(), WRITES, WRITES);
        final long once = dcNs(model(), WRITES, WRITES / 2);
        final long always = dcNs(model(), WRITES, 1);
        // A WRITE alone takes some 3,000 ns, of which those to one target hide nearly all behind each other.
        final long changeNs = once - never;
        assertThat(changeNs).isBetween(1_500L, 3_500L);
        assertThat(always).isGreaterThan(never + (WRITES - 1) * changeNs * 8 / 10);
    }

    @Test
    void shouldChargeTheModelsPriceForEachConnection()
    {
        final String name = "dc_connect_ns";
        assertThat(dcNs(model(name, "1060"), 1, 1) - dcNs(model(name, "60"), 1, 1)).isEqualTo(1_000);
        assertThat(dcNs(model(name, "1060"), WRITES, 1) - dcNs(model(name, "60"), WRITES, 1))
            .isEqualTo(WRITES * 1_000L);
    }

    @Test
    void shouldFetchContextsOfInitiatorsLikeThoseOfQueuePairs()
    {
        try (SimPair pair = new SimPair(1, SimFabricOptions.calm().rnicModel(model("qp_context_cache_entries", "2"))))
        {
            final DcTarget target = pair.b.domain.createDcTarget(new DcTargetOptions(
                pair.b.completions, pair.b.domain.createSharedReceiveQueue(1), ACCESS_KEY, AccessFlags.ALL_REMOTE, 4));
            final AddressHandle handle = pair.a.domain.createAddressHandle(pair.b.device.address());
            for (int i = 0; i < 8; i++)
            {
                final QueuePair queuePair = pair.a.queuePair(QueuePairType.DC_INITIATOR, null);
                SimPair.raise(queuePair, pair.b, 0);
                SimPair.post(queuePair, () ->
                {
                    queuePair.write(1, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), pair.b.at(0), pair.b.key());
                    queuePair.toDcTarget(handle, target.number(), ACCESS_KEY);
                });
            }
            pair.drain();
            assertThat(pair.a.statuses()).hasSize(8).allMatch(status -> status.endsWith("success"));
            assertThat(pair.a.device.contextMisses()).isGreaterThanOrEqualTo(8);
            // The connect packet brings the target's context with it.
            assertThat(pair.b.device.contextMisses()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"UC", "UD"})
    void shouldTakeTheSumOfItsPartsForOneSmallMessage(final QueuePairType type)
    {
        try (SimPair pair = new SimPair(1, SimFabricOptions.calm().rnicModel(model())))
        {
            final QueuePair[] queuePairs = pair.connected(type);
            queuePairs[1].postReceive(1, pair.b.at(0), 64, pair.b.key());
            final long startNs = pair.fabric.clock().nanoTime();
            SimPair.post(queuePairs[0], () -> send(pair, queuePairs[0], queuePairs[1].number(), 8));
            long sentNs = 0;
            while (pair.b.poll().isEmpty())
            {
                assertThat(pair.fabric.step()).isTrue();
                if (sentNs == 0 && !pair.a.poll().isEmpty())
                {
                    sentNs = pair.fabric.clock().nanoTime() - startNs;
                }
            }
            // Doorbell, DMA of the request, context, work request, packet, DMA of the payload, wire.
            final long leftNs = 40 + 550 + 550 + 100 + 80 + 550 + 20;
            assertThat(sentNs).isBetween(leftNs + 200, leftNs + 210);
            // Link, context, work request, DMA.
            final long arrivedNs = leftNs + 300 + 550 + 100 + 200;
            assertThat(pair.fabric.clock().nanoTime() - startNs).isBetween(arrivedNs, arrivedNs + 10);
        }
    }

    @Test
    void shouldNeedOneContextForDatagramsToAndFromEverybody()
    {
        try (SimPair pair = new SimPair(1, SimFabricOptions.calm().rnicModel(model("qp_context_cache_entries", "2"))))
        {
            final QueuePair sender = pair.a.queuePair(QueuePairType.UD, null);
            SimPair.raise(sender, pair.b, 0);
            for (int i = 0; i < 8; i++)
            {
                final QueuePair receiver = pair.b.queuePair(QueuePairType.UD, null);
                SimPair.raise(receiver, pair.a, 0);
                receiver.postReceive(i, pair.b.at(0), 64, pair.b.key());
                SimPair.post(sender, () -> send(pair, sender, receiver.number(), 8));
            }
            pair.drain();
            assertThat(pair.b.poll()).hasSize(8);
            assertThat(pair.a.device.contextMisses()).isEqualTo(1);
            assertThat(pair.b.device.contextMisses()).isEqualTo(8);
        }
    }

    private static void send(final SimPair pair, final QueuePair from, final int number, final int lengthBytes)
    {
        from.send(1, SendFlags.SIGNALED, pair.a.at(0), lengthBytes, pair.a.key());
        if (from.type() == QueuePairType.UD)
        {
            from.toQueuePair(pair.a.domain.createAddressHandle(pair.b.device.address()), number, SimPair.QKEY);
        }
    }
}

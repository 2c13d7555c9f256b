package io.verbena.rdma.sim;

import io.verbena.rdma.sim.schedule.SimFabricOptions;
import io.verbena.rdma.spi.GlobalRoutingHeader;
import io.verbena.rdma.verbs.AddressHandle;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletions;

import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** UC and UD: what is lost is lost silently, partly or out of order; the sender never knows. */
class SimUnreliableTest
{
    private static final int SEEDS = 150;

    private static void datagram(
        final SimPair pair, final QueuePair from, final AddressHandle handle, final QueuePair to, final int wrId,
        final int qkey)
    {
        SimPair.post(from, () ->
        {
            from.send(wrId, SendFlags.SIGNALED, pair.a.at(wrId * 8L), 8, pair.a.key());
            from.toQueuePair(handle, to.number(), qkey);
        });
    }

    @Test
    void shouldDeliverDatagramBehindRoutingHeader()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            final QueuePair[] ends = pair.connected(QueuePairType.UD);
            final AddressHandle handle = pair.a.domain.createAddressHandle(pair.b.device.address());
            ends[1].postReceive(5, pair.b.at(1024), 48, pair.b.key());
            pair.a.word(8, 77);
            datagram(pair, ends[0], handle, ends[1], 1, SimPair.QKEY);
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("1 success");
            final SimPair.Done done = pair.b.poll().get(0);
            assertThat(done.byteLength()).isEqualTo(48);
            assertThat(done.flags()).isEqualTo(WorkCompletions.WITH_GRH);
            assertThat(done.source()).isEqualTo(ends[0].number());
            assertThat(pair.b.word(1024 + GlobalRoutingHeader.LENGTH_BYTES)).isEqualTo(77);
            assertThat(Long.reverseBytes(pair.b.word(1024 + 16))).isEqualTo(pair.a.device.address().gidLow());
        }
    }

    @Test
    void shouldDropDatagramsSilently()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            final QueuePair[] ends = pair.connected(QueuePairType.UD);
            final AddressHandle handle = pair.a.domain.createAddressHandle(pair.b.device.address());
            datagram(pair, ends[0], handle, ends[1], 1, SimPair.QKEY);
            pair.drain();
            ends[1].postReceive(5, pair.b.at(1024), 47, pair.b.key());
            datagram(pair, ends[0], handle, ends[1], 2, SimPair.QKEY);
            datagram(pair, ends[0], handle, ends[1], 3, SimPair.QKEY + 1);
            datagram(pair, ends[0], handle, ends[0], 4, SimPair.QKEY);
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("1 success", "2 success", "3 success", "4 success");
            assertThat(pair.b.poll()).isEmpty();
            assertThat(ends[1].state()).isEqualTo(QueuePairState.RTS);
            pair.b.device.kill();
            datagram(pair, ends[0], handle, ends[1], 5, SimPair.QKEY);
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("5 success");
        }
    }

    @Test
    void shouldUseOwnKeyWhenHighestBitIsSet()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            final QueuePair[] ends = pair.connected(QueuePairType.UD);
            final AddressHandle handle = pair.a.domain.createAddressHandle(pair.b.device.address());
            ends[1].postReceive(5, pair.b.at(1024), 64, pair.b.key());
            datagram(pair, ends[0], handle, ends[1], 1, 1 << 31);
            pair.drain();
            assertThat(pair.b.poll()).hasSize(1);
        }
    }

    @Test
    void shouldReorderAndLoseDatagramsAndReplayExactly()
    {
        final Set<List<Long>> orders = new HashSet<>();
        for (int seed = 0; seed < SEEDS; seed++)
        {
            final List<Long> first = arrivals(seed);
            assertThat(arrivals(seed)).isEqualTo(first);
            orders.add(first);
        }
        assertThat(orders).contains(List.of(0L, 1L, 2L), List.of(0L, 1L), List.of(1L));
        assertThat(orders.stream().anyMatch(order -> order.size() == 3 && order.get(0) > order.get(1))).isTrue();
    }

    private static List<Long> arrivals(final long seed)
    {
        try (SimPair pair = new SimPair(seed, new SimFabricOptions().loss(0.3)))
        {
            final QueuePair[] ends = pair.connected(QueuePairType.UD);
            final AddressHandle handle = pair.a.domain.createAddressHandle(pair.b.device.address());
            for (int i = 0; i < 3; i++)
            {
                ends[1].postReceive(i, pair.b.at(1024 + i * 64), 64, pair.b.key());
                pair.a.word(i * 8L, i);
                datagram(pair, ends[0], handle, ends[1], i, SimPair.QKEY);
            }
            pair.drain();
            assertThat(pair.a.poll()).hasSize(3);
            return pair.b.poll().stream()
                .map(done -> pair.b.word(1024 + done.wrId() * 64 + GlobalRoutingHeader.LENGTH_BYTES)).toList();
        }
    }

    @Test
    void shouldPlaceOnlyFirstPacketsOfLostWrite()
    {
        final Set<String> outcomes = new HashSet<>();
        for (int seed = 0; seed < SEEDS; seed++)
        {
            try (SimPair pair = new SimPair(seed, new SimFabricOptions().loss(0.5)))
            {
                final QueuePair[] ends = pair.connected(QueuePairType.UC);
                pair.a.region.segment().fill((byte)-1);
                ends[1].postReceive(3, pair.b.at(4096), 8, pair.b.key());
                SimPair.post(ends[0], () -> ends[0].writeWithImmediate(
                    1, SendFlags.SIGNALED, pair.a.at(0), 768, pair.a.key(), pair.b.at(0), pair.b.key(), 4));
                pair.drain();
                assertThat(pair.a.statuses()).containsExactly("1 success");
                final StringBuilder packets = new StringBuilder();
                for (int packet = 0; packet < 3; packet++)
                {
                    packets.append(pair.b.word(packet * 256L) == 0 ? '0' : '1');
                }
                outcomes.add(packets + " " + pair.b.poll().size());
            }
        }
        assertThat(outcomes).containsExactlyInAnyOrder("000 0", "100 0", "110 0", "111 1");
    }

    @Test
    void shouldDropRefusedRequestsOfUnreliableConnectionAndGoOn()
    {
        try (SimPair pair = new SimPair(1, new SimFabricOptions()))
        {
            final QueuePair[] ends = pair.connected(QueuePairType.UC);
            pair.a.word(0, 3);
            ends[1].postReceive(7, pair.b.at(4096), 8, pair.b.key());
            SimPair.post(ends[0],
                () -> ends[0].write(1, 0, pair.a.at(0), 8, pair.a.key(), pair.b.at(-8), pair.b.key()),
                () -> ends[0].write(2, 0, pair.a.at(0), 8, pair.a.key(), pair.b.at(0), pair.b.key() + 1),
                () -> ends[0].send(3, 0, pair.a.at(0), 16, pair.a.key()),
                () -> ends[0].write(4, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key(), pair.b.at(8), pair.b.key()),
                () -> ends[0].send(5, 0, pair.a.at(0), 8, pair.a.key()));
            pair.drain();
            assertThat(pair.a.statuses()).containsExactly("4 success");
            assertThat(pair.b.statuses()).containsExactly("7 success");
            assertThat(pair.b.word(8)).isEqualTo(3);
            assertThat(ends[1].state()).isEqualTo(QueuePairState.RTS);
            assertThat(pair.b.events()).isEmpty();
        }
    }

    @Test
    void shouldFlushInSqeUntilModifiedToRts()
    {
        for (final QueuePairType type : new QueuePairType[]{ QueuePairType.UC, QueuePairType.UD })
        {
            try (SimPair pair = new SimPair(1, new SimFabricOptions()))
            {
                final QueuePair[] ends = pair.connected(type);
                final AddressHandle handle = pair.a.domain.createAddressHandle(pair.b.device.address());
                ends[0].postReceive(20, pair.a.at(2048), 64, pair.a.key());
                ends[1].postReceive(30, pair.b.at(2048), 64, pair.b.key());
                SimPair.post(ends[0], send(pair, ends, handle, 1, 1), send(pair, ends, handle, 2, 0));
                pair.drain();
                assertThat(pair.a.statuses()).containsExactly("1 local protection error", "2 work request flushed");
                assertThat(ends[0].state()).isEqualTo(QueuePairState.SQE);
                SimPair.post(ends[0], send(pair, ends, handle, 3, 0));
                assertThat(pair.a.statuses()).containsExactly("3 work request flushed");
                ends[0].modify(new QueuePairAttributes().state(QueuePairState.RTS));
                SimPair.post(ends[0], send(pair, ends, handle, 4, 0));
                pair.drain();
                assertThat(pair.a.statuses()).containsExactly("4 success");
                assertThat(pair.b.statuses()).containsExactly("30 success");
            }
        }
    }

    private static Runnable send(
        final SimPair pair, final QueuePair[] ends, final AddressHandle handle, final long wrId, final int wrongKey)
    {
        return () ->
        {
            ends[0].send(wrId, SendFlags.SIGNALED, pair.a.at(0), 8, pair.a.key() + wrongKey);
            if (ends[0].type() == QueuePairType.UD)
            {
                ends[0].toQueuePair(handle, ends[1].number(), SimPair.QKEY);
            }
        };
    }
}

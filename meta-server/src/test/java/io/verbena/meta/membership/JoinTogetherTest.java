package io.verbena.meta.membership;

import io.verbena.meta.store.DurableWriteError;
import io.verbena.meta.store.InMemoryMetaStore;
import io.verbena.meta.store.MetaBatch;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.MetaStore;
import io.verbena.meta.store.StoredNodeState;
import io.verbena.protocol.message.NodeRegistration;
import io.verbena.raas.ReadTargetAddress;
import io.verbena.raas.RemoteRegion;
import io.verbena.raas.directory.NodeRole;
import io.verbena.rdma.verbs.DeviceAddress;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Registrations that share one write: durable before anybody hears of one, all of them or none. */
class JoinTogetherTest
{
    private final InMemoryMetaStore store = new InMemoryMetaStore();
    private final List<String> events = new ArrayList<>();
    private boolean fails;
    private final MembershipConductor conductor = start();

    private final class Disk implements MetaStore
    {
        @Override
        public MetaState load()
        {
            return store.load();
        }

        @Override
        public void write(final MetaBatch batch)
        {
            if (fails)
            {
                throw new DurableWriteError("disk full", null);
            }
            events.add("write");
            store.write(batch);
        }

        @Override
        public void close()
        {
            store.close();
        }
    }

    private final class Events implements MembershipListener
    {
        @Override
        public void onJoined(final Member member)
        {
            events.add("joined " + member.nodeId());
        }

        @Override
        public void onEnded(final Member member)
        {
            events.add("ended " + member.nodeId());
        }

        @Override
        public void onFenced(final Member member)
        {
            events.add("fenced " + member.nodeId());
        }
    }

    private MembershipConductor start()
    {
        final MetaState state = store.load();
        return new MembershipConductor(
            MembershipConductor.openLedger(new Disk(), state, 1, TestSecrets.first()), state,
            new ConductorOptions(new MembershipOptions(1_000, 100, 8), 10, 10, 2_000, false), new Events(), 0);
    }

    private Member register(final NodeRole role, final long memoryId)
    {
        return conductor.register(new NodeRegistration(0, role, new DeviceAddress(1, 2), 1,
            new RemoteRegion(4096, 4096, 7), memoryId, 0, ReadTargetAddress.NONE), 0);
    }

    @Test
    void shouldWriteOnceAndTellThen()
    {
        events.clear();
        final List<Member> members = new ArrayList<>();
        conductor.together(() ->
        {
            members.add(register(NodeRole.COMPUTE_NODE, 0));
            members.add(register(NodeRole.MEMORY_NODE, 7));
            members.add(register(NodeRole.MEMORY_NODE, 7));
            members.add(register(NodeRole.COMPUTE_NODE, 0));
            assertThat(events).as("nothing is known before").isEmpty();
        });
        assertThat(events).containsExactly(
            "write", "joined " + members.get(0).nodeId(), "joined " + members.get(1).nodeId(),
            "joined " + members.get(2).nodeId(), "joined " + members.get(3).nodeId());
        assertThat(members.get(1).nodeId()).as("the same memory").isEqualTo(members.get(2).nodeId());
        assertThat(members.stream().map(Member::incarnation).distinct()).hasSize(4);

        events.clear();
        conductor.together(() -> { });
        assertThat(events).as("nothing to write").isEmpty();

        final MetaState state = store.load();
        assertThat(state.nodes()).hasSize(3);
        assertThat(state.nodes().stream().mapToInt((node) -> node.incarnation()).max().orElseThrow())
            .as("given to nobody again").isLessThan(state.counters().nextIncarnation());
        assertThat(state.nodes()).as("of the same memory the later one")
            .anyMatch((node) -> node.incarnation() == members.get(2).incarnation())
            .noneMatch((node) -> node.incarnation() == members.get(1).incarnation());
        register(NodeRole.COMPUTE_NODE, 0);
        assertThat(events).as("alone").hasSize(2).first().isEqualTo("write");
    }

    @Test
    void shouldTellNobodyWhenTheWriteFails()
    {
        final int nodesBefore = store.load().nodes().size();
        events.clear();
        fails = true;
        assertThatThrownBy(() -> conductor.together(() ->
        {
            register(NodeRole.COMPUTE_NODE, 0);
            register(NodeRole.COMPUTE_NODE, 0);
        })).isInstanceOf(DurableWriteError.class);
        assertThat(events).isEmpty();
        assertThat(store.load().nodes()).hasSize(nodesBefore);
    }

    /** As after the death of a host: its nodes end by one write, and are fenced by one. */
    @Test
    void shouldEndAndFenceTogetherThoseWhoseLeasesEndTogether()
    {
        final List<Integer> nodes = new ArrayList<>();
        conductor.together(() ->
        {
            for (int i = 0; i < 3; i++)
            {
                nodes.add(register(NodeRole.COMPUTE_NODE, 0).nodeId());
            }
        });
        final Member memory = register(NodeRole.MEMORY_NODE, 7);
        long nowNs = 0;
        while (nowNs < 1_000)
        {
            nowNs += 100;
            conductor.heartbeat(memory.nodeId(), memory.incarnation(), 0, nowNs);
            conductor.doWork(nowNs, (memoryNodeId, round) -> { });
        }
        events.clear();
        final long version = conductor.table().version();
        final List<FencingRound> asked = new ArrayList<>();
        conductor.doWork(1_100, (memoryNodeId, round) -> asked.add(round));
        assertThat(events.removeFirst()).isEqualTo("write");
        assertThat(events).containsExactlyInAnyOrderElementsOf(nodes.stream().map((id) -> "ended " + id).toList());
        assertThat(asked).hasSize(3);
        assertThat(conductor.table().version()).as("nodes list the others again").isGreaterThan(version);
        assertThat(store.load().counters().membershipVersion()).isEqualTo(conductor.table().version());

        events.clear();
        asked.forEach((round) -> round.onAnswer(memory.nodeId(), true, 1_100));
        conductor.doWork(1_110, (memoryNodeId, round) -> { });
        assertThat(events.removeFirst()).isEqualTo("write");
        assertThat(events).containsExactlyInAnyOrderElementsOf(nodes.stream().map((id) -> "fenced " + id).toList());
        assertThat(store.load().nodes()).hasSize(1);
    }

    @Test
    void shouldNotifyNobodyOfAnEndThatCannotBeWritten()
    {
        final Member member = register(NodeRole.COMPUTE_NODE, 0);
        conductor.doWork(100, (memoryNodeId, round) -> { });
        events.clear();
        fails = true;
        assertThatThrownBy(() ->
        {
            for (long nowNs = 200; nowNs < 2_000; nowNs += 100)
            {
                conductor.doWork(nowNs, (memoryNodeId, round) -> { });
            }
        }).isInstanceOf(DurableWriteError.class);
        assertThat(events).isEmpty();
        fails = false;
        assertThat(store.load().nodes()).singleElement().satisfies((node) ->
        {
            assertThat(node.nodeId()).isEqualTo(member.nodeId());
            assertThat(node.state()).isEqualTo(StoredNodeState.LIVE);
        });
    }

    /** What one of them fails with is its caller's; the counters that the others moved are on disk all the same. */
    @Test
    void shouldWriteWhatWasDoneBeforeAFailure()
    {
        assertThatThrownBy(() -> conductor.together(() ->
        {
            register(NodeRole.COMPUTE_NODE, 0);
            throw new IllegalStateException("planted");
        })).isInstanceOf(IllegalStateException.class);
        assertThat(store.load().nodes()).hasSize(1);
        events.clear();
        register(NodeRole.COMPUTE_NODE, 0);
        assertThat(events).as("no group any more").hasSize(2).first().isEqualTo("write");
    }
}

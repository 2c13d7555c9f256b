package io.verbena.rdma.roce.host;

import io.verbena.rdma.verbs.PostStatus;
import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.SendFlags;
import io.verbena.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** A server that two threads answer for, a neighbour on its host, and clients on other hosts. */
class HostThreadsTest
{
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int COUNT = 500;
    private static final long WORD_AT = 128;

    /** Each original is found once, whoever adds: threads of the network, a process of this host, or the server. */
    @Test
    void shouldCountExactlyWhicheverThreadOrProcessAdds() throws Exception
    {
        final Path host = HostNode.directory();
        try (HostNode server = new HostNode("soft:" + host + ",network=::1,threads=2");
            HostNode neighbour = HostNode.on(host);
            HostNode first = HostNode.on(HostNode.directory());
            HostNode second = HostNode.on(HostNode.directory()))
        {
            final List<HostNode> clients = List.of(neighbour, first, second);
            final List<QueuePair[]> ends = clients.stream().map((client) -> client.connect(server)).toList();
            final List<QueuePair> queuePairs = ends.stream().map((end) -> end[0]).toList();
            assertThat(queuePairs).extracting(QueuePair::transport)
                .containsExactly("shared-memory", "rocev2", "rocev2");
            assertThat(server.device.address(ends.get(1)[1])).as("port of a thread of its own")
                .isNotEqualTo(server.device.address(ends.get(2)[1]));

            final BitSet seen = new BitSet();
            final CompletableFuture<?>[] all = IntStream.range(0, clients.size()).mapToObj((i) ->
                CompletableFuture.runAsync(() -> add(clients.get(i), queuePairs.get(i), server, seen)))
                .toArray(CompletableFuture[]::new);
            final MemorySegment word = server.region.segment();
            for (int i = 0; i < COUNT; i++)
            {
                note(seen, (long)WORD.getAndAdd(word, WORD_AT, 1L));
            }
            CompletableFuture.allOf(all).get(120, TimeUnit.SECONDS);
            assertThat((long)WORD.getVolatile(word, WORD_AT)).isEqualTo((clients.size() + 1L) * COUNT);
            assertThat(seen.cardinality()).isEqualTo((clients.size() + 1) * COUNT);
        }
    }

    private static void note(final BitSet seen, final long original)
    {
        synchronized (seen)
        {
            assertThat(seen.get((int)original)).as("found twice: " + original).isFalse();
            seen.set((int)original);
        }
    }

    private static void add(final HostNode node, final QueuePair queuePair, final HostNode server, final BitSet seen)
    {
        for (int i = 0; i < COUNT; i++)
        {
            queuePair.begin();
            queuePair.fetchAdd(1, SendFlags.SIGNALED, node.region.address(), node.region.localKey(),
                server.region.address() + WORD_AT, server.region.remoteKey(), 1);
            assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
            assertThat(node.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
            note(seen, node.region.segment().get(ValueLayout.JAVA_LONG, 0));
        }
    }
}

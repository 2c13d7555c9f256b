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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** A server that two threads answer for, a neighbour on its host, and clients on other hosts. */
class HostThreadsTest
{
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int COUNT = 300;
    private static final Executor THREADS = (work) -> Thread.ofPlatform().daemon().start(work);
    private static final long WORD_AT = 128;

    /** None is lost, whoever adds: threads of the network, a process of this host, or the server itself. */
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

            final AtomicInteger left = new AtomicInteger(clients.size() - 1);
            final List<CompletableFuture<Long>> all = IntStream.range(0, clients.size()).mapToObj((i) ->
                CompletableFuture.supplyAsync(() -> add(clients.get(i), queuePairs.get(i), server, left), THREADS))
                .toList();
            final MemorySegment word = server.region.segment();
            long expected = 0;
            for (; left.get() > 0; expected++)
            {
                WORD.getAndAdd(word, WORD_AT, 1L);
            }
            for (final CompletableFuture<Long> each : all)
            {
                expected += each.get(300, TimeUnit.SECONDS);
            }
            assertThat((long)WORD.getVolatile(word, WORD_AT)).isEqualTo(expected);
        }
    }

    /** Strangers add as often as they are to, the neighbour as long as they do. Returns how often that was. */
    private static long add(
        final HostNode node, final QueuePair queuePair, final HostNode server, final AtomicInteger left)
    {
        final boolean isStranger = queuePair.transport().equals("rocev2");
        long count = 0;
        try
        {
            for (; isStranger ? count < COUNT : left.get() > 0; count++)
            {
                queuePair.begin();
                queuePair.fetchAdd(1, SendFlags.SIGNALED, node.region.address(), node.region.localKey(),
                    server.region.address() + WORD_AT, server.region.remoteKey(), 1);
                assertThat(queuePair.complete()).isEqualTo(PostStatus.OK);
                assertThat(node.await()).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
        }
        finally
        {
            left.addAndGet(isStranger ? -1 : 0);
        }
        return count;
    }
}

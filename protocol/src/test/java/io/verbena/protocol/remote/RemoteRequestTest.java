package io.verbena.protocol.remote;

import io.verbena.protocol.request.ComputeEndpoint;
import io.verbena.protocol.request.ControlRequest;
import io.verbena.protocol.request.NodeRequest;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RequestKind;
import io.verbena.protocol.request.RequestLimits;
import io.verbena.protocol.request.TableReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

class RemoteRequestTest
{
    private static final byte[] KEY = {1, 2, 3};

    @TempDir
    Path directory;
    private RemoteRig rig;

    @BeforeEach
    void open()
    {
        rig = new RemoteRig(directory);
    }

    @AfterEach
    void close()
    {
        rig.close();
        assertThat(rig.errors).isEmpty();
    }

    private static byte[] bytes(final int length)
    {
        final byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    @Test
    void shouldAnswerAsTheNodeDoes()
    {
        // Submitted while connecting: it waits.
        final RemoteRig.Operation put = rig.run(RequestKind.PUT, KEY, new byte[]{9});
        assertThat(put.answer()).isEqualTo(OperationAnswer.STORED);
        assertThat(put.version()).isEqualTo(101);
        assertThat(List.of(put.verbCount(), put.roundTripCount(), put.doorbellCount())).containsExactly(3, 2, 1);
        assertThat(rig.node.last.table()).isEqualTo(RemoteRig.TABLE);
        final RemoteRig.Operation get = rig.run(RequestKind.GET, KEY, null);
        assertThat(get.answer()).isEqualTo(OperationAnswer.FOUND);
        assertThat(get.foundValue()).containsExactly(9);
        assertThat(get.version()).isEqualTo(5);
        assertThat(rig.run(RequestKind.EXISTS, KEY, null).foundValue()).isNull();
        assertThat(rig.run(RequestKind.DELETE, KEY, null).answer()).isEqualTo(OperationAnswer.DELETED);
        assertThat(rig.run(RequestKind.GET, KEY, null).answer()).isEqualTo(OperationAnswer.NOT_FOUND);
        final RemoteRig.Operation replace =
            RemoteRig.operation(RequestKind.REPLACE, KEY, new byte[0], 41, rig.nowNs() + RemoteRig.TIMEOUT_NS);
        assertThat(rig.endpoint.submit(replace)).isEqualTo(ComputeEndpoint.ACCEPTED);
        rig.runUntil(() -> replace.doneCount > 0);
        assertThat(replace.answer()).isEqualTo(OperationAnswer.VERSION_MISMATCH);
        assertThat(replace.version()).isEqualTo(42);
        assertThat(replace.detail()).isEqualTo("detail of REPLACE");
        assertThat(replace.doneCount).isEqualTo(1);
        assertThat(rig.node.last.value()).isEmpty();
    }

    @Test
    void shouldCarryKeysAndValuesOfEveryLength()
    {
        final int inline = OperationReplyDescriptor.MAX_INLINE_VALUE_BYTES;
        for (final int keyLength : new int[]{1, 4000, RequestLimits.MAX_KEY_BYTES})
        {
            for (final int length : new int[]{0, 1, inline, inline + 1, 8192, RequestLimits.MAX_VALUE_BYTES})
            {
                final byte[] key = bytes(keyLength);
                assertThat(rig.run(RequestKind.PUT, key, bytes(length)).answer()).isEqualTo(OperationAnswer.STORED);
                assertThat(rig.run(RequestKind.GET, key, null).foundValue())
                    .as("key %d value %d", keyLength, length).isEqualTo(bytes(length));
            }
        }
        assertThat(rig.endpoint.isBusy()).isFalse();
    }

    @Test
    void shouldCarryManyLargeAndSmallRequestsAtOnce()
    {
        final List<RemoteRig.Operation> puts = new ArrayList<>();
        for (int i = 0; i < 200; i++)
        {
            puts.add(rig.submit(RequestKind.PUT, new byte[]{(byte)i, 1}, bytes(i % 3 == 0 ? 16_000 - i : i)));
        }
        rig.runUntil(() -> puts.stream().allMatch(put -> put.doneCount > 0));
        assertThat(puts).allMatch(put -> OperationAnswer.STORED == put.answer() && 1 == put.doneCount);
        final List<RemoteRig.Operation> gets = new ArrayList<>();
        for (int i = 0; i < 200; i++)
        {
            gets.add(rig.submit(RequestKind.GET, new byte[]{(byte)i, 1}, null));
        }
        rig.runUntil(() -> gets.stream().allMatch(get -> get.doneCount > 0));
        for (int i = 0; i < 200; i++)
        {
            assertThat(gets.get(i).foundValue()).isEqualTo(bytes(i % 3 == 0 ? 16_000 - i : i));
        }
        assertThat(rig.server.owed()).isZero();
    }

    @Test
    void shouldAnswerRequestsAboutTables()
    {
        rig.node.tables = IntStream.range(0, 500).mapToObj(i -> String.format("%0120d", i)).toList();
        final RemoteRig.Control created = rig.control(ControlRequest.Kind.CREATE_TABLE, "ü");
        final RemoteRig.Control found = rig.control(ControlRequest.Kind.FIND_TABLE, "x");
        final RemoteRig.Control listed = rig.control(ControlRequest.Kind.LIST_TABLES, null);
        final RemoteRig.Control counters = rig.control(ControlRequest.Kind.VERB_COUNTERS, null);
        rig.runUntil(() -> NodeRequest.DONE == listed.state() && NodeRequest.DONE == counters.state());
        assertThat(created.result()).isEqualTo(new TableReference("ü", 50));
        assertThat(found.status()).isEqualTo(ControlRequest.Status.NOT_FOUND);
        assertThat(found.detail()).isEqualTo("no such table");
        assertThat(listed.result()).as("500 names in several pages").isEqualTo(rig.node.tables);
        assertThat(counters.status()).isEqualTo(ControlRequest.Status.REFUSED);
        assertThat(rig.node.copies).isEqualTo(1);
        final RemoteRig.Control copied = new RemoteRig.Control(
            ControlRequest.Kind.CREATE_TABLE, "c", 9, 3, rig.nowNs() + RemoteRig.TIMEOUT_NS);
        rig.endpoint.submit(copied);
        rig.runUntil(() -> NodeRequest.DONE == copied.state());
        assertThat(copied.result()).isEqualTo(new TableReference("c", 9));
        assertThat(rig.node.copies).isEqualTo(3);
    }

    @Test
    void shouldNotSendWhatWasWithdrawnOrIsTooLate()
    {
        final RemoteRig.Operation withdrawn = rig.submit(RequestKind.PUT, KEY, KEY);
        assertThat(withdrawn.withdraw()).isTrue();
        final RemoteRig.Operation late =
            RemoteRig.operation(RequestKind.PUT, KEY, KEY, 0, rig.nowNs());
        rig.endpoint.submit(late);
        rig.runUntil(() -> late.doneCount > 0);
        assertThat(late.answer()).isEqualTo(OperationAnswer.TIMED_OUT);
        assertThat(rig.node.records).isEmpty();
    }

    @Test
    void shouldSayNotServingForWhatTheNodeDoesNotTake()
    {
        rig.connected();
        for (final int status : new int[]{ComputeEndpoint.FULL, ComputeEndpoint.CLOSED})
        {
            rig.node.status = status;
            final RemoteRig.Operation put = rig.run(RequestKind.PUT, KEY, KEY);
            assertThat(put.answer()).isEqualTo(OperationAnswer.NOT_SERVING);
            assertThat(put.detail()).isEqualTo("node takes no request now");
        }
        final RemoteRig.Control drop = rig.control(ControlRequest.Kind.DROP_TABLE, "t");
        rig.runUntil(() -> NodeRequest.DONE == drop.state());
        assertThat(drop.status()).isEqualTo(ControlRequest.Status.NOT_SERVING);
    }

    @Test
    void shouldTellThatTheNodeDrainsAndStillGetWhatItOwes()
    {
        rig.connected().node.isHolding = true;
        final RemoteRig.Operation put = rig.submit(RequestKind.PUT, KEY, KEY);
        rig.runUntil(() -> rig.server.owed() == 1);
        rig.server.drain();
        rig.runUntil(() -> RemoteEndpoint.State.DRAINING == rig.endpoint.state());
        assertThat(rig.endpoint.submit(
            RemoteRig.operation(RequestKind.PUT, KEY, KEY, 0, rig.nowNs() + RemoteRig.TIMEOUT_NS)))
            .isEqualTo(ComputeEndpoint.CLOSED);
        rig.node.isHolding = false;
        rig.runUntil(() -> put.doneCount > 0);
        assertThat(put.answer()).isEqualTo(OperationAnswer.STORED);
        assertThat(rig.server.connections()).isEqualTo(1);
        rig.endpoint.close();
        // The node would else wait for its longest time.
        rig.runUntil(() -> 0 == rig.server.connections());
    }

    /** As one that had no processor while the node told that it drains, lingered, and left. */
    @ParameterizedTest
    @ValueSource(ints = {1, 16_000})
    void shouldSendNothingToANodeThatItHasNotLookedAtForLong(final int valueLength)
    {
        assertThat(rig.run(RequestKind.PUT, KEY, KEY).answer()).isEqualTo(OperationAnswer.STORED);
        final long served = rig.server.served();
        rig.server.drain();
        final RemoteRig.Operation late = rig.submit(RequestKind.PUT, KEY, bytes(valueLength));
        rig.endpoint.poll(rig.nowNs() + RequestServer.LINGER_NS);
        rig.server.doWork();
        assertThat(rig.server.served()).as("not sent").isEqualTo(served);
        rig.isServerStopped = true;
        rig.server.close();
        rig.runUntil(() -> late.doneCount > 0);
        assertThat(late.answer()).as("not begun: another node may take it").isEqualTo(OperationAnswer.NOT_SERVING);
    }

    @Test
    void shouldCarryOutWhatAClientSendsBeforeItSeesThatTheNodeDrains()
    {
        assertThat(rig.run(RequestKind.PUT, KEY, KEY).answer()).isEqualTo(OperationAnswer.STORED);
        rig.server.drain();
        final RemoteRig.Operation put = rig.submit(RequestKind.PUT, KEY, KEY);
        rig.endpoint.poll(rig.nowNs());
        rig.runUntil(() -> put.doneCount > 0);
        assertThat(put.answer()).isEqualTo(OperationAnswer.STORED);
        assertThat(rig.server.refusedRequests()).isZero();
    }

    /** Parts of a value are no request yet. */
    @Test
    void shouldNotBeginWhatWasSentInPartsWhenTheNodeLeavesMeanwhile()
    {
        assertThat(rig.run(RequestKind.PUT, KEY, KEY).answer()).isEqualTo(OperationAnswer.STORED);
        final long served = rig.server.served();
        final RemoteRig.Operation put = rig.submit(RequestKind.PUT, KEY, bytes(16_000));
        rig.endpoint.poll(rig.nowNs());
        rig.server.drain();
        rig.node.status = ComputeEndpoint.CLOSED;
        rig.runUntil(() -> RemoteEndpoint.State.DRAINING == rig.endpoint.state() && put.doneCount > 0);
        assertThat(put.answer()).isEqualTo(OperationAnswer.NOT_SERVING);
        assertThat(rig.server.served() - served).as("refused there, or here").isBetween(0L, 1L);
    }

    @Test
    void shouldSayUnknownForWhatWasSentToANodeThatDied()
    {
        rig.connected().node.isHolding = true;
        final RemoteRig.Operation put = rig.submit(RequestKind.PUT, KEY, KEY);
        final RemoteRig.Operation get = rig.submit(RequestKind.GET, KEY, null);
        final RemoteRig.Control create = rig.control(ControlRequest.Kind.CREATE_TABLE, "c");
        final RemoteRig.Control find = rig.control(ControlRequest.Kind.FIND_TABLE, "f");
        rig.runUntil(() -> rig.server.owed() == 4);
        rig.isServerStopped = true;
        rig.server.close();
        final long diedNs = rig.nowNs();
        rig.runUntil(() -> put.doneCount > 0 && NodeRequest.DONE == find.state());
        assertThat(rig.nowNs() - diedNs).as("noticed long before the deadline").isLessThan(RemoteRig.TIMEOUT_NS / 2);
        assertThat(put.answer()).isEqualTo(OperationAnswer.OUTCOME_UNKNOWN);
        assertThat(put.detail()).startsWith("compute node did not answer: ");
        assertThat(get.answer()).isEqualTo(OperationAnswer.OUTCOME_UNKNOWN);
        assertThat(create.status()).isEqualTo(ControlRequest.Status.OUTCOME_UNKNOWN);
        assertThat(find.status()).isEqualTo(ControlRequest.Status.NOT_SERVING);
        rig.runUntil(() -> RemoteEndpoint.State.FAILED == rig.endpoint.state());
        assertThat(rig.endpoint.submit(RemoteRig.operation(RequestKind.GET, KEY, null, 0, Long.MAX_VALUE)))
            .isEqualTo(ComputeEndpoint.CLOSED);
    }

    @Test
    void shouldSayNotServingForWhatWasNotSentWhenTheEndpointCloses()
    {
        rig.connected().node.isHolding = true;
        final List<RemoteRig.Operation> puts = new ArrayList<>();
        for (int i = 0; i < RequestServer.CREDITS + 5; i++)
        {
            puts.add(rig.submit(RequestKind.PUT, KEY, KEY));
        }
        rig.runUntil(() -> rig.server.owed() == RequestServer.CREDITS);
        final RemoteRig.Operation unsent = puts.getLast();
        rig.endpoint.close();
        assertThat(unsent.answer()).isEqualTo(OperationAnswer.NOT_SERVING);
        rig.client.poll();
        assertThat(puts.getFirst().answer()).isEqualTo(OperationAnswer.OUTCOME_UNKNOWN);
        assertThat(puts).allMatch(put -> 1 == put.doneCount);
        rig.node.isHolding = false;
        rig.node.answerAll();
        rig.server.doWork();
        assertThat(rig.server.owed()).as("answers that nobody awaits are dropped").isLessThanOrEqualTo(
            RequestServer.CREDITS);
    }

    @Test
    void shouldTryElsewhereWhenALargeRequestCannotBeTaken()
    {
        rig.connected();
        final RemoteRig.Operation put = rig.submit(RequestKind.PUT, KEY, bytes(16_000));
        rig.client.poll();
        rig.endpoint.poll(rig.nowNs());
        rig.server.close();
        rig.isServerStopped = true;
        rig.runUntil(() -> put.doneCount > 0);
        assertThat(put.answer()).as("its parts were sent, but not the operation itself")
            .isEqualTo(OperationAnswer.NOT_SERVING);
        assertThat(rig.node.records).isEmpty();
    }

    /** What a lone caller on an idle node pays for: one look on each side, and nothing waits for another cycle. */
    @Test
    void shouldSendRequestAndAnswerWithinTheCyclesThatHaveThem()
    {
        rig.connected().runUntil(() -> !rig.endpoint.isBusy());
        final RemoteRig.Operation put = rig.submit(RequestKind.PUT, KEY, KEY);
        rig.endpoint.poll(rig.nowNs());
        rig.server.doWork();
        rig.node.answerAll();
        assertThat(rig.server.sendAnswers()).isEqualTo(1);
        assertThat(rig.client.pollCompletions()).isPositive();
        assertThat(put.doneCount).isEqualTo(1);
        assertThat(put.answer()).isEqualTo(OperationAnswer.STORED);
    }
}

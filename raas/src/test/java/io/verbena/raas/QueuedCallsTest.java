package io.verbena.raas;

import io.verbena.raas.rpc.RpcReplyListener;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** Calls beside one that waits for its connection, driven by who polls nothing but completions. */
@Timeout(60)
class QueuedCallsTest
{
    private static final int CREDITS = 8;

    @TempDir
    Path directory;
    private SoftPair pair;
    private VirtualQp ready;
    private VirtualQp sibling;
    private VirtualQp connecting;
    private final List<Integer> received = new ArrayList<>();
    private final List<Integer> answered = new ArrayList<>();
    private int made;

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory, new RaasConfiguration(), new RaasConfiguration().rpcCredits(CREDITS));
        pair.handler = (caller, method, request, offset, length, reply) ->
        {
            received.add(method);
            return 0;
        };
        ready = pair.connect((on, cookie, status) -> {});
        sibling = pair.connect((on, cookie, status) -> {});
        final PeerAddress other = new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 2, 1);
        connecting = pair.client.connect(other, (on, cookie, status) -> {}, SoftPair.TIMEOUT_NS);
    }

    @AfterEach
    void close()
    {
        pair.close();
    }

    /** The method of a call is its number. */
    private void call(final VirtualQp vqp, final RpcReplyListener listener)
    {
        assertThat(pair.client.rpcClient().call(
            vqp, made, new UnsafeBuffer(new byte[0]), 0, 0, SoftPair.TIMEOUT_NS, listener)).isPositive();
        made++;
    }

    private void call(final VirtualQp vqp)
    {
        final int number = made;
        call(vqp, (callId, status, payload, offset, length) -> answered.add(number));
    }

    private void turn()
    {
        pair.server.poll();
        pair.client.pollCompletions();
    }

    @Test
    void shouldSendAtOnceToAPeerThatIsReadyWhileAnotherIsBeingConnected()
    {
        call(connecting);
        call(ready);
        assertThat(pair.client.counters().sends).isEqualTo(1);
        turn();
        assertThat(answered).containsExactly(1);
        assertThat(connecting.state()).isEqualTo(VirtualQp.State.CONNECTING);
        pair.runUntil(() -> answered.size() == 2);
        assertThat(answered).containsExactly(1, 0);
    }

    @Test
    void shouldSendWhatWaitsForRoomWhenOnlyCompletionsArePolled()
    {
        call(connecting);
        for (int i = 0; i < 3 * CREDITS; i++)
        {
            call(ready);
        }
        assertThat(pair.client.counters().sends).isEqualTo(CREDITS);
        for (int turns = 0; turns < 3; turns++)
        {
            turn();
        }
        assertThat(answered).isEqualTo(IntStream.rangeClosed(1, 3 * CREDITS).boxed().toList());
    }

    /** When the second of several replies is told, the first one has made room: it belongs to who waits for longest. */
    @Test
    void shouldKeepTheOrderOfCallsToOnePeerWhenListenersCallAgain()
    {
        call(connecting);
        for (int i = 0; i < 2 * CREDITS; i++)
        {
            callAgain();
        }
        for (int turns = 0; turns < 10; turns++)
        {
            turn();
        }
        assertThat(received).isEqualTo(IntStream.range(1, 60).boxed().toList());
    }

    private void callAgain()
    {
        call(made % 2 == 0 ? ready : sibling, (callId, status, payload, offset, length) ->
        {
            if (made < 60)
            {
                callAgain();
            }
        });
    }

    @Test
    void shouldNotWaitBehindCallsOfAClosedVirtualQueuePair()
    {
        for (int i = 0; i < 2 * CREDITS; i++)
        {
            call(sibling);
        }
        sibling.close();
        turn();
        call(ready);
        assertThat(pair.client.counters().sends).isEqualTo(CREDITS + 1);
        turn();
        assertThat(answered).contains(2 * CREDITS);
    }
}

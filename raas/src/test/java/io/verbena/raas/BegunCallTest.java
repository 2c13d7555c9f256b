package io.verbena.raas;

import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.rpc.RpcStatus;
import io.verbena.rdma.verbs.PostStatus;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Calls whose request is written where it is sent from. */
class BegunCallTest
{
    private static final int METHOD = 9;

    @TempDir
    Path directory;
    private SoftPair pair;
    private RpcClient rpc;
    private VirtualQp vqp;
    private final List<String> answers = new ArrayList<>();
    private final List<RpcStatus> statuses = new ArrayList<>();

    @BeforeEach
    void open()
    {
        pair = new SoftPair(directory);
        rpc = pair.client.rpcClient();
        vqp = pair.connect((on, cookie, status) -> {});
    }

    @AfterEach
    void close()
    {
        pair.close();
    }

    private void onReply(
        final long callId, final RpcStatus status, final DirectBuffer payload, final int offset, final int length)
    {
        statuses.add(status);
        answers.add(payload.getStringWithoutLengthUtf8(offset, length));
    }

    /** @return address of what was written. */
    private long begin(final String text)
    {
        assertThat(rpc.begin(vqp)).isEqualTo(PostStatus.OK);
        rpc.requestBuffer().putStringWithoutLengthUtf8(0, text);
        return rpc.requestBuffer().addressOffset();
    }

    private long call(final String text, final long timeoutNs)
    {
        final long address = begin(text);
        complete(text.length(), timeoutNs);
        return address;
    }

    private void complete(final int lengthBytes, final long timeoutNs)
    {
        assertThat(rpc.complete(METHOD, lengthBytes, pair.clientDevice.clock().nanoTime() + timeoutNs, this::onReply))
            .isPositive();
    }

    /** While it waits to be sent, what the caller wrote is what will be sent: there is no other copy. */
    @Test
    void shouldSendTheBytesThatTheCallerWrote()
    {
        vqp = pair.client.connect(
            new PeerAddress(pair.serverDevice.address(), SoftPair.PORT, 2, 1), (on, cookie, status) -> {},
            SoftPair.TIMEOUT_NS);
        assertThat(vqp.state()).isEqualTo(VirtualQp.State.CONNECTING);
        final long address = call("early", SoftPair.TIMEOUT_NS);
        UnsafeApi.putByte(address, (byte)'E');
        pair.runUntil(() -> answers.size() == 1);
        assertThat(answers).containsExactly("Early");
    }

    @Test
    void shouldGiveEachCallThatIsUnderWayMemoryOfItsOwn()
    {
        final Set<Long> addresses = new HashSet<>();
        for (int i = 0; i < 64; i++)
        {
            addresses.add(call("call " + i, SoftPair.TIMEOUT_NS));
        }
        assertThat(addresses).as("most of them wait for credits").hasSize(64);
        assertThat(rpc.begin(vqp)).isEqualTo(PostStatus.QUEUE_FULL);
        pair.runUntil(() -> answers.size() == 64);
        for (int i = 0; i < 64; i++)
        {
            assertThat(answers.get(i)).isEqualTo("call " + i);
        }
    }

    /** Its SEND is over, so nobody reads it any more; each late reply gives back the credit that its call took. */
    @Test
    void shouldGiveOutTheMemoryOfACallThatEndedBeforeItsReply()
    {
        for (int late = 1; late <= 20; late++)
        {
            final long address = call("slow", 1_000_000);
            while (answers.size() < late)
            {
                pair.client.poll();
            }
            assertThat(statuses.getLast()).isEqualTo(RpcStatus.TIMED_OUT);
            assertThat(begin("next")).as("the same memory").isEqualTo(address);
            rpc.cancel();
            final int stray = late;
            pair.runUntil(() -> rpc.strayReplies() == stray);
        }
        final Set<Long> addresses = new HashSet<>();
        for (int i = 0; i < 64; i++)
        {
            addresses.add(call("call " + i, SoftPair.TIMEOUT_NS));
        }
        assertThat(addresses).hasSize(64);
        pair.runUntil(() -> answers.size() == 20 + 64);
        for (int i = 0; i < 64; i++)
        {
            assertThat(answers.get(20 + i)).isEqualTo("call " + i);
        }
    }

    @Test
    void shouldGiveBackTheMemoryOfCancelledCalls()
    {
        for (int i = 0; i < 1_000; i++)
        {
            begin("never sent");
            rpc.cancel();
        }
        assertThat(rpc.outstandingCalls()).isZero();
        call("sent", SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> answers.size() == 1);
        assertThat(answers).containsExactly("sent");
        assertThat(pair.client.counters().sends).isEqualTo(1);
    }

    @Test
    void shouldBeginNothingOverALostConnection()
    {
        vqp.close();
        assertThat(rpc.begin(vqp)).isEqualTo(PostStatus.INVALID_STATE);
        assertThatThrownBy(rpc::cancel).isInstanceOf(RaasMisuseException.class).hasMessageContaining("no call");
    }

    /** Whoever writes on would change the message of somebody else. */
    @Test
    void shouldNotLetTheCallerWriteAnyMore()
    {
        call("sent", SoftPair.TIMEOUT_NS);
        assertThatThrownBy(() -> rpc.requestBuffer().putByte(0, (byte)1)).isInstanceOf(IndexOutOfBoundsException.class);
        begin("cancelled");
        rpc.cancel();
        assertThatThrownBy(() -> rpc.requestBuffer().putByte(0, (byte)1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldNotLetTheCallerWriteBehindTheLongestMessage()
    {
        begin("first");
        assertThat(rpc.requestBuffer().capacity()).isEqualTo(RpcClient.MAX_MESSAGE_BYTES);
        assertThatThrownBy(() -> rpc.complete(METHOD, RpcClient.MAX_MESSAGE_BYTES + 1, 0, this::onReply))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("4097 bytes");
        rpc.cancel();
    }

    @Test
    void shouldBeginOneCallAtATime()
    {
        begin("first");
        assertThatThrownBy(() -> rpc.begin(vqp))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("another is begun");
        complete(5, SoftPair.TIMEOUT_NS);
        assertThatThrownBy(() -> complete(5, SoftPair.TIMEOUT_NS))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("no call is begun");
        pair.runUntil(() -> answers.size() == 1);
        assertThat(answers).containsExactly("first");
    }
}

package io.verbena.protocol.bootstrap;

import io.verbena.protocol.access.AccessRules;
import io.verbena.protocol.bootstrap.BootstrapException.Reason;
import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.test.MessageFuzzer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What both sides of the handshake make of messages that somebody has changed; without a network. */
@Timeout(3_600)
class BootstrapFuzzTest
{
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(4, "the fabric", new PeerAddress(new DeviceAddress(1, 2, 3), 9, 0, 0));
    private static final ClusterAddress ADDRESS = new ClusterAddress("127.0.0.1", 1);
    /** Nothing is waited for; but a busy machine may stop this process between two bytes. */
    private static final int NO_WAIT_MS = 600_000;
    private static final byte[] NONCE = new byte[BootstrapDescriptor.NONCE_LENGTH_BYTES];

    private final ClusterToken token = ClusterToken.ofHex("0123456789abcdef".repeat(4), "test");
    private final MessageFuzzer fuzzer = new MessageFuzzer(20, BootstrapException.class);
    private final PendingHandshakes pending = new PendingHandshakes(2, 60_000, SystemNanoClock.INSTANCE);
    private final BootstrapServer server = BootstrapServer.open(new ClusterAddress("127.0.0.1", 0), token, ANSWER,
        () -> AccessRules.NONE, (roles) -> null);

    @AfterEach
    void close()
    {
        server.close();
    }

    /** The other side has said all of it before, and hung up. */
    private static final class Said extends Socket
    {
        private final InputStream in;
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Said(final byte[] bytes)
        {
            in = new ByteArrayInputStream(bytes);
        }

        @Override
        public InputStream getInputStream()
        {
            return in;
        }

        @Override
        public OutputStream getOutputStream()
        {
            return out;
        }

        @Override
        public void setSoTimeout(final int timeoutMs)
        {
            // Nothing is waited for.
        }

        @Override
        public InetAddress getInetAddress()
        {
            return InetAddress.getLoopbackAddress();
        }
    }

    private BootstrapAnswer readAsClient(final byte[] said, final byte[] nonce)
    {
        try
        {
            final Said socket = new Said(said);
            return BootstrapClient.shakeHands(socket, new MessageReader(socket, NO_WAIT_MS), ADDRESS, token,
                BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, nonce);
        }
        catch (final IOException | BootstrapClient.BusyException ex)
        {
            throw new BootstrapException(Reason.UNREACHABLE, "hung up", ex);
        }
    }

    private static byte[] bytes(final DirectBuffer message, final int offset, final int lengthBytes)
    {
        final byte[] bytes = new byte[lengthBytes];
        message.getBytes(offset, bytes);
        return bytes;
    }

    private static byte[] challenge()
    {
        return BootstrapDescriptor.challenge(BootstrapDescriptor.STATUS_OK, "", NONCE);
    }

    /** What a server with the token says to the client whose nonce this is, in this answer. */
    private byte[] proved(final byte[] challenge, final byte[] answer, final byte[] clientNonce)
    {
        final byte[] hello = BootstrapDescriptor.hello(
            BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, clientNonce, "");
        final byte[] proof = token.proof(BootstrapClient.CLIENT_SIDE, hello, challenge);
        final byte[] signed = answer.clone();
        BootstrapDescriptor.putProof(signed, new byte[BootstrapDescriptor.PROOF_LENGTH_BYTES]);
        BootstrapDescriptor.putProof(
            signed, token.proof(BootstrapClient.SERVER_SIDE, hello, challenge, proof, signed));
        final byte[] all = Arrays.copyOf(challenge, challenge.length + signed.length);
        System.arraycopy(signed, 0, all, challenge.length, signed.length);
        return all;
    }

    @Test
    void shouldReadOrRefuseWhatAServerSays()
    {
        final byte[] said = proved(challenge(), BootstrapDescriptor.answer(ANSWER), NONCE);
        fuzzer.fuzz("challenge and answer", said, (message, offset, lengthBytes) ->
            assertThat(readAsClient(bytes(message, offset, lengthBytes), NONCE)).isEqualTo(ANSWER));
        fuzzer.fuzz("busy", BootstrapDescriptor.busy("later", 20), (message, offset, lengthBytes) ->
        {
            final byte[] bytes = bytes(message, offset, lengthBytes);
            if (!Arrays.equals(BootstrapDescriptor.busy("later", 20), bytes))
            {
                readAsClient(bytes, NONCE);
            }
        });
    }

    /** Who has the token can say anything. */
    @Test
    void shouldReadOrRefuseWhatIsProved()
    {
        fuzzer.fuzz("proved answer", BootstrapDescriptor.answer(ANSWER), (message, offset, lengthBytes) ->
        {
            final byte[] bytes = bytes(message, offset, lengthBytes);
            readAsClient(bytes.length < BootstrapDescriptor.ANSWER_GID_OFFSET ? bytes :
                proved(challenge(), bytes, NONCE), NONCE);
        });
    }

    @Test
    void shouldReadOrRefuseWhatAClientSays()
    {
        for (final String user : new String[]{"", "ann"})
        {
            final byte[] hello = BootstrapDescriptor.hello(
                BootstrapDescriptor.VERSION, BootstrapDescriptor.FORMATS, NONCE, user);
            fuzzer.fuzz("hello and proof of '" + user + "'",
                Arrays.copyOf(hello, hello.length + BootstrapDescriptor.PROOF_LENGTH_BYTES),
                (message, offset, lengthBytes) -> readAsServer(bytes(message, offset, lengthBytes)));
        }
    }

    private void readAsServer(final byte[] said)
    {
        final Said socket = new Said(said);
        final PendingHandshakes.Pending begun = pending.begin(socket);
        try
        {
            server.shakeHands(socket, begun);
        }
        catch (final SocketTimeoutException ex)
        {
            return; // this process was stopped for as long as a message may take
        }
        catch (final IOException ex)
        {
            throw new BootstrapException(Reason.UNREACHABLE, "hung up", ex);
        }
        finally
        {
            pending.end(begun);
        }
        assertThat(socket.out.toString(StandardCharsets.ISO_8859_1)).doesNotContain(ANSWER.fabric());
    }

    /** Somebody between has recorded what another server, or this one, has said, and sends a client there. */
    @Test
    void shouldNotBeRedirectedByWhatWasSaidToSomebodyElse()
    {
        final byte[] other = NONCE.clone();
        other[0] = 1;
        final byte[] recorded = proved(challenge(), BootstrapDescriptor.answer(ANSWER), NONCE);
        assertThat(readAsClient(recorded, NONCE)).isEqualTo(ANSWER);
        assertThatThrownBy(() -> readAsClient(recorded, other)).isInstanceOf(BootstrapException.class)
            .hasMessageContaining("somebody between has changed what was sent");
        final PeerAddress elsewhere = new PeerAddress(new DeviceAddress(6, 6, 6), 66, 0, 0);
        for (final BootstrapAnswer lie : new BootstrapAnswer[]{new BootstrapAnswer(4, "the fabric", elsewhere),
            new BootstrapAnswer(4, "another one", ANSWER.metaServer()),
            new BootstrapAnswer(5, "the fabric", ANSWER.metaServer()),
            ANSWER.withMembers(List.of(new ClusterAddress("elsewhere", 7373)))})
        {
            final byte[] answer = BootstrapDescriptor.answer(lie);
            final int proofAt = BootstrapDescriptor.HELLO_LENGTH_BYTES + BootstrapDescriptor.ANSWER_PROOF_OFFSET;
            System.arraycopy(recorded, proofAt, answer, BootstrapDescriptor.ANSWER_PROOF_OFFSET,
                BootstrapDescriptor.PROOF_LENGTH_BYTES);
            final byte[] said = Arrays.copyOf(challenge(), BootstrapDescriptor.HELLO_LENGTH_BYTES + answer.length);
            System.arraycopy(answer, 0, said, BootstrapDescriptor.HELLO_LENGTH_BYTES, answer.length);
            assertThatThrownBy(() -> readAsClient(said, NONCE)).as("%s", lie).isInstanceOf(BootstrapException.class)
                .hasMessageContaining("somebody between has changed what was sent");
        }
    }
}

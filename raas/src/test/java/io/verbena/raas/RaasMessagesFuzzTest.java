package io.verbena.raas;

import io.verbena.raas.encryption.ConnectionCipher;
import io.verbena.raas.encryption.SealedMessageDescriptor;
import io.verbena.raas.identity.ConnectionClaim;
import io.verbena.raas.identity.IdentitySecret;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.message.MessageHeaderDescriptor;
import io.verbena.raas.message.MessageImmediateDescriptor;
import io.verbena.raas.message.MessageOptions;
import io.verbena.raas.message.OpenMessagesDescriptor;
import io.verbena.test.MessageFuzzer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/** What contexts make of connect data and of headers of messages that somebody has changed. */
class RaasMessagesFuzzTest
{
    private static final class Refused extends RuntimeException
    {
        private static final long serialVersionUID = 1L;

        Refused(final String why)
        {
            super(why);
        }
    }

    private final MessageFuzzer fuzzer = new MessageFuzzer(20, Refused.class);

    private static byte[] bytes(final DirectBuffer message, final int offset, final int lengthBytes)
    {
        final byte[] bytes = new byte[lengthBytes];
        message.getBytes(offset, bytes);
        return bytes;
    }

    private static void refuse(final String problem)
    {
        if (null != problem)
        {
            throw new Refused(problem);
        }
    }

    /** Nothing that was changed in what it covers is proved. */
    @Test
    void shouldReadOrRefuseRequestsToConnect()
    {
        final IdentitySecret secret = IdentitySecret.random(new SplittableRandom(7));
        final PeerIdentity identity = new PeerIdentity(3, 4);
        final byte[] proof = new ConnectionClaim(3, 4, 5, 6, 7, 8, 9).proof(secret);
        final byte[] request = ConnectDataDescriptor.encodeRequest(identity, 16, 5, proof);
        fuzzer.fuzz("request", request, (message, offset, lengthBytes) ->
        {
            final byte[] data = bytes(message, offset, lengthBytes);
            refuse(ConnectDataDescriptor.requestProblem(data));
            final PeerIdentity read = ConnectDataDescriptor.identity(data);
            ConnectDataDescriptor.credits(data);
            final ConnectionClaim claim = new ConnectionClaim(read.nodeId(), read.incarnation(),
                nonce(data), 6, 7, 8, 9, 0, 0, 0, read.login());
            final boolean isSame = read.equals(identity) && 5 == nonce(data) &&
                Arrays.equals(proof, ConnectDataDescriptor.proof(data));
            assertThat(claim.isProvedBy(secret, ConnectDataDescriptor.proof(data))).isEqualTo(isSame);
        });
    }

    private static long nonce(final byte[] data)
    {
        return new UnsafeBuffer(data).getLong(ConnectDataDescriptor.NONCE_OFFSET);
    }

    @Test
    void shouldReadOrRefuseAnswersToConnect()
    {
        final byte[] bare = ConnectDataDescriptor.encodeAnswer(Admission.accept(5, new byte[]{1, 2, 3}), 16, 7);
        final byte[] answer = Arrays.copyOf(bare, bare.length + 2 * ConnectDataDescriptor.REGION_LENGTH_BYTES);
        answer[ConnectDataDescriptor.REGION_COUNT_OFFSET] = 2;
        fuzzer.fuzz("answer", answer, (message, offset, lengthBytes) ->
        {
            final byte[] data = bytes(message, offset, lengthBytes);
            refuse(ConnectDataDescriptor.answerProblem(data));
            assertThat(ConnectDataDescriptor.credits(data)).isPositive();
            ConnectDataDescriptor.acceptorIncarnation(data);
            ConnectDataDescriptor.grants(data);
            assertThat(ConnectDataDescriptor.data(data).length).isLessThanOrEqualTo(data.length);
        });
    }

    /** Encryption is asked for and granted by what stands at the end: other lengths have none. */
    @Test
    void shouldReadOrRefuseConnectDataWithEncryption()
    {
        final byte[] request = ConnectDataDescriptor.encrypted(ConnectDataDescriptor.encodeRequest(
            new PeerIdentity(3, 4), 16, 5, new byte[IdentitySecret.LENGTH_BYTES]), new SplittableRandom(8));
        fuzzer.fuzz("encrypted request", request, (message, offset, lengthBytes) ->
        {
            final byte[] data = bytes(message, offset, lengthBytes);
            refuse(ConnectDataDescriptor.requestProblem(data));
            assertThat(lengthBytes < request.length && 0 != ConnectDataDescriptor.encryptionAsked(data)).isFalse();
        });
        final byte[] answer = ConnectDataDescriptor.encrypted(ConnectDataDescriptor.encodeAnswer(
            Admission.accept(5, new byte[]{1, 2, 3}), 16, 7), new SplittableRandom(9));
        fuzzer.fuzz("encrypted answer", answer, (message, offset, lengthBytes) ->
        {
            final byte[] data = bytes(message, offset, lengthBytes);
            refuse(ConnectDataDescriptor.answerProblem(request, data, false));
            assertThat(ConnectDataDescriptor.encryptionGranted(data)).isEqualTo(SealedMessageDescriptor.AES_128_GCM);
        });
    }

    /** Nothing opens but what was sealed. */
    @Test
    void shouldRefuseSealedMessagesThatWereChanged()
    {
        final IdentitySecret secret = IdentitySecret.random(new SplittableRandom(7));
        final byte[] scratch = ConnectionCipher.scratch(4112);
        final byte[] data = new byte[60];
        final UnsafeBuffer whole = new UnsafeBuffer(new byte[80]);
        final int sealed = ConnectionCipher.of(secret, true, data, data, scratch).seal(whole, 0, 60, 5);
        final byte[] right = Arrays.copyOf(whole.byteArray(), sealed);
        fuzzer.fuzz("sealed message", right, (message, offset, lengthBytes) ->
        {
            final UnsafeBuffer copy = new UnsafeBuffer(bytes(message, offset, lengthBytes));
            final boolean isRight = Arrays.equals(right, copy.byteArray());
            final int length = ConnectionCipher.of(secret, false, data, data, scratch).open(copy, 0, lengthBytes, 5);
            assertThat(length).isEqualTo(isRight ? 60 : -1);
            refuse(length < 0 ? "does not open" : null);
        });
    }

    @Test
    void shouldReadOrRefuseHeadersOfMessages()
    {
        final UnsafeBuffer whole = new UnsafeBuffer(new byte[MessageHeaderDescriptor.HEADER_LENGTH_BYTES + 40]);
        MessageHeaderDescriptor.encode(whole, 0, 201, 40, 9);
        fuzzer.fuzz("header", whole.byteArray(), (message, offset, lengthBytes) ->
        {
            if (!MessageHeaderDescriptor.isIntact(message, offset, lengthBytes))
            {
                throw new Refused("not intact");
            }
            MessageHeaderDescriptor.version(message, offset);
            MessageHeaderDescriptor.method(message, offset);
            MessageHeaderDescriptor.generation(message, offset);
            assertThat(bytes(message, offset + MessageHeaderDescriptor.HEADER_LENGTH_BYTES,
                MessageHeaderDescriptor.payloadLength(message, offset)).length)
                .isEqualTo(lengthBytes - MessageHeaderDescriptor.HEADER_LENGTH_BYTES);
        });
    }

    @Test
    void shouldReadOrRefuseWhatOpensAQueuePairForMessages()
    {
        final UnsafeBuffer whole = new UnsafeBuffer(new byte[OpenMessagesDescriptor.LENGTH_BYTES]);
        OpenMessagesDescriptor.encode(whole, 0, 7, new MessageOptions().credits(16).identity(new PeerIdentity(3, 4)));
        fuzzer.fuzz("open", whole.byteArray(), (message, offset, lengthBytes) ->
        {
            refuse(OpenMessagesDescriptor.problem(message, offset, lengthBytes));
            assertThat(OpenMessagesDescriptor.credits(message, offset)).isPositive();
            assertThat(OpenMessagesDescriptor.grantedLengthBytes(message, offset)).isNotNegative();
            OpenMessagesDescriptor.number(message, offset);
            OpenMessagesDescriptor.service(message, offset);
            OpenMessagesDescriptor.nodeId(message, offset);
            OpenMessagesDescriptor.incarnation(message, offset);
            OpenMessagesDescriptor.grantedKey(message, offset);
            OpenMessagesDescriptor.grantedAddress(message, offset);
        });
    }

    /** Each immediate is of some kind, number and generation: 32 bits that are never out of their ranges. */
    @Test
    void shouldReadAnyImmediate()
    {
        final SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < Integer.getInteger("verbena.fuzz.messages", 10_000); i++)
        {
            final int immediate = random.nextInt();
            final int slot = MessageImmediateDescriptor.slot(immediate);
            assertThat(slot).isBetween(0, MessageImmediateDescriptor.MAX_SLOTS - 1);
            assertThat(MessageImmediateDescriptor.encode(MessageImmediateDescriptor.kind(immediate),
                MessageImmediateDescriptor.generation(immediate), slot)).isEqualTo(immediate);
        }
    }
}

package io.verbena.raas.encryption;

import io.verbena.raas.identity.IdentitySecret;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.SplittableRandom;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

import static org.assertj.core.api.Assertions.assertThat;

/** What opens at the other end of a connection, and what does not. */
class ConnectionCipherTest
{
    private static final int LONGEST = 200;
    private static final int OFFSET = 24;
    private static final int IMMEDIATE = 0x1234_0007;
    private static final byte[] REQUEST = bytes(60, 1);
    private static final byte[] ANSWER = bytes(36, 2);

    private final IdentitySecret secret = IdentitySecret.random(new SplittableRandom(3));
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[512]);
    private final ConnectionCipher client = cipher(secret, true, REQUEST, ANSWER);
    private final ConnectionCipher node = cipher(secret, false, REQUEST, ANSWER);

    private static byte[] bytes(final int length, final int seed)
    {
        final byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    private static ConnectionCipher cipher(
        final IdentitySecret secret, final boolean isConnector, final byte[] request, final byte[] answer)
    {
        return ConnectionCipher.of(secret, isConnector, request, answer, ConnectionCipher.scratch(LONGEST));
    }

    private byte[] seal(final ConnectionCipher by, final byte[] message)
    {
        buffer.putBytes(OFFSET, message);
        final byte[] sealed = new byte[by.seal(buffer, OFFSET, message.length, IMMEDIATE)];
        buffer.getBytes(OFFSET, sealed);
        return sealed;
    }

    /** Null where it does not open. */
    private byte[] open(final ConnectionCipher by, final byte[] sealed, final int immediate)
    {
        buffer.putBytes(OFFSET, sealed);
        final int length = by.open(buffer, OFFSET, sealed.length, immediate);
        if (length < 0)
        {
            final byte[] left = new byte[sealed.length];
            buffer.getBytes(OFFSET, left);
            assertThat(left).as("what does not open stays as it was").isEqualTo(sealed);
            assertThat(length).isEqualTo(-1);
            return null;
        }
        final byte[] opened = new byte[length];
        buffer.getBytes(OFFSET, opened);
        return opened;
    }

    private byte[] open(final ConnectionCipher by, final byte[] sealed)
    {
        return open(by, sealed, IMMEDIATE);
    }

    private byte[] openAtNew(final byte[] sealed, final int immediate)
    {
        return open(cipher(secret, false, REQUEST, ANSWER), sealed, immediate);
    }

    @Test
    void shouldOpenWhatTheOtherEndSealsInBothDirections()
    {
        for (final int length : new int[]{0, 1, 15, 16, 17, LONGEST})
        {
            final byte[] request = bytes(length, length + 10);
            final byte[] sealed = seal(client, request);
            assertThat(sealed).hasSize(length + SealedMessageDescriptor.TAG_LENGTH_BYTES);
            assertThat(open(node, sealed)).isEqualTo(request);
            final byte[] reply = bytes(length, length + 11);
            assertThat(open(client, seal(node, reply))).isEqualTo(reply);
        }
        assertThat(node).hasToString("ConnectionCipher{sealed=6, opened=6}");
    }

    @Test
    void shouldSealTheSameMessageDifferentlyEachTimeAndShowNothingOfIt()
    {
        final byte[] message = "a value that nobody may read".getBytes(StandardCharsets.US_ASCII);
        final byte[] first = seal(client, message);
        final byte[] second = seal(client, message);
        final byte[] reply = seal(node, message);
        assertThat(first).isNotEqualTo(second).isNotEqualTo(reply);
        assertThat(new String(first, StandardCharsets.ISO_8859_1)).doesNotContain("value");
        // The first of each direction have the same nonce: with the same key, they would give the message away.
        for (int i = 0; i + 4 <= message.length; i += 4)
        {
            final int at = i;
            assertThat(Arrays.copyOfRange(first, at, at + 4)).isNotEqualTo(Arrays.copyOfRange(reply, at, at + 4));
        }
    }

    @Test
    void shouldNotOpenAMessageThatWasChangedAnywhere()
    {
        final byte[] sealed = seal(client, bytes(40, 5));
        for (int i = 0; i < sealed.length; i++)
        {
            final byte[] changed = sealed.clone();
            changed[i] ^= 1;
            assertThat(openAtNew(changed, IMMEDIATE)).as("byte %d", i).isNull();
        }
        assertThat(openAtNew(sealed, IMMEDIATE)).isNotNull();
    }

    @Test
    void shouldNotOpenAMessageThatWasCutOrLengthened()
    {
        final byte[] sealed = seal(client, bytes(40, 5));
        for (int length = 0; length < sealed.length; length++)
        {
            assertThat(openAtNew(Arrays.copyOf(sealed, length), IMMEDIATE)).as("%d bytes", length).isNull();
        }
        assertThat(openAtNew(Arrays.copyOf(sealed, sealed.length + 1), IMMEDIATE)).isNull();
    }

    @Test
    void shouldNotOpenAMessageThatIsLongerThanAnyThatIsSealed()
    {
        final int longest = LONGEST + SealedMessageDescriptor.TAG_LENGTH_BYTES;
        assertThat(openAtNew(new byte[longest], IMMEDIATE)).isNull();
        assertThat(openAtNew(new byte[longest + 1], IMMEDIATE)).isNull();
        assertThat(open(node, new byte[longest + 1])).isNull();
        assertThat(open(node, seal(client, bytes(1, 1)))).as("after one that did not open").isNull();
    }

    @Test
    void shouldNotOpenAMessageWhoseImmediateWasChanged()
    {
        final byte[] sealed = seal(client, bytes(40, 5));
        for (int bit = 0; bit < Integer.SIZE; bit++)
        {
            assertThat(openAtNew(sealed, IMMEDIATE ^ 1 << bit)).as("bit %d", bit).isNull();
        }
    }

    @Test
    void shouldNotOpenAMessageTwice()
    {
        final byte[] sealed = seal(client, bytes(40, 5));
        assertThat(open(node, sealed)).isNotNull();
        assertThat(open(node, sealed)).isNull();
        assertThat(open(node, seal(client, bytes(40, 6)))).as("nothing opens after that").isNull();
    }

    @Test
    void shouldNotOpenMessagesInAnotherOrder()
    {
        seal(client, bytes(40, 5));
        final byte[] second = seal(client, bytes(40, 6));
        assertThat(open(node, second)).isNull();
    }

    @Test
    void shouldNotOpenTheMessageThatFollowsAChangedOne()
    {
        final byte[] first = seal(client, bytes(40, 5));
        final byte[] changed = first.clone();
        changed[3] ^= 4;
        assertThat(open(node, changed)).isNull();
        assertThat(open(node, first)).as("the right one, after the wrong one").isNull();
        assertThat(node).hasToString("ConnectionCipher{sealed=0, opened=-1}");
    }

    @Test
    void shouldNotOpenItsOwnMessages()
    {
        assertThat(open(client, seal(client, bytes(40, 5)))).isNull();
    }

    @Test
    void shouldNotOpenMessagesOfAnotherConnectionOrIdentity()
    {
        final byte[] sealed = seal(client, bytes(40, 5));
        final byte[] otherRequest = REQUEST.clone();
        otherRequest[59] ^= 1;
        final byte[] otherAnswer = ANSWER.clone();
        otherAnswer[0] ^= 1;
        final IdentitySecret other = IdentitySecret.random(new SplittableRandom(4));
        assertThat(open(cipher(secret, false, otherRequest, ANSWER), sealed)).isNull();
        assertThat(open(cipher(secret, false, REQUEST, otherAnswer), sealed)).isNull();
        assertThat(open(cipher(other, false, REQUEST, ANSWER), sealed)).isNull();
    }

    /** The same bytes in all, divided in another way. */
    @Test
    void shouldNotTakeAPartOfTheRequestForAPartOfTheAnswer()
    {
        final byte[] request = Arrays.copyOf(REQUEST, REQUEST.length - 1);
        final byte[] answer = new byte[ANSWER.length + 1];
        answer[0] = REQUEST[REQUEST.length - 1];
        System.arraycopy(ANSWER, 0, answer, 1, ANSWER.length);
        assertThat(open(cipher(secret, false, request, answer), seal(client, bytes(40, 5)))).isNull();
    }

    @Test
    void shouldChangeKeysAfterSoManyMessages()
    {
        final byte[] scratch = ConnectionCipher.scratch(LONGEST);
        final ConnectionCipher often = ConnectionCipher.of(secret, true, REQUEST, ANSWER, scratch, 3);
        final ConnectionCipher other = ConnectionCipher.of(secret, false, REQUEST, ANSWER, scratch, 3);
        for (int i = 0; i < 10; i++)
        {
            final byte[] message = bytes(20, i);
            final byte[] sealed = seal(often, message);
            assertThat(Arrays.equals(sealed, seal(client, message))).as("message %d", i).isEqualTo(i < 3);
            assertThat(open(other, sealed)).as("message %d", i).isEqualTo(message);
        }
    }

    /** As the page of the format says, from the primitives. */
    @Test
    void shouldSealAsTheFormatSays() throws GeneralSecurityException
    {
        final UnsafeBuffer raw = new UnsafeBuffer(new byte[IdentitySecret.LENGTH_BYTES]);
        secret.write(raw, 0);
        final byte[] extracted = mac(new byte[32], raw.byteArray());
        final byte[] direction = mac(extracted, "verbena requests".getBytes(StandardCharsets.US_ASCII),
            new byte[]{60}, REQUEST, ANSWER, new byte[]{1});
        final byte[] next = mac(direction, "verbena next".getBytes(StandardCharsets.US_ASCII), new byte[]{1});
        final ConnectionCipher often = ConnectionCipher.of(
            secret, true, REQUEST, ANSWER, ConnectionCipher.scratch(LONGEST), 1);
        final byte[] message = bytes(33, 9);
        assertThat(seal(often, message)).isEqualTo(sealed(direction, 0, message));
        assertThat(seal(often, message)).isEqualTo(sealed(next, 1, message));
        final byte[] third = mac(next, "verbena next".getBytes(StandardCharsets.US_ASCII), new byte[]{1});
        assertThat(seal(often, message)).isEqualTo(sealed(third, 2, message));
    }

    private static byte[] sealed(final byte[] direction, final long counter, final byte[] message)
        throws GeneralSecurityException
    {
        final byte[] key = mac(direction, "verbena key".getBytes(StandardCharsets.US_ASCII), new byte[]{1});
        final Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, 0, 16, "AES"), new GCMParameterSpec(128,
            ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN).putInt(0).putLong(counter).array()));
        cipher.updateAAD(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(IMMEDIATE).array());
        return cipher.doFinal(message);
    }

    private static byte[] mac(final byte[] key, final byte[]... parts) throws GeneralSecurityException
    {
        final Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        for (final byte[] part : parts)
        {
            mac.update(part);
        }
        return mac.doFinal();
    }
}

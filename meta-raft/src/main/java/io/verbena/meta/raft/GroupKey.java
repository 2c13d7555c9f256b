package io.verbena.meta.raft;

import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.util.HexFormat;
import java.util.UUID;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What the members of one group have in common: its id, and a secret by which they know each other. Immutable; any
 * thread.
 */
public final class GroupKey
{
    private static final String MAC = "HmacSHA256";
    private static final int MIN_SECRET_BYTES = 16;

    private final UUID groupId;
    private final SecretKeySpec secret;

    /**
     * @param groupId of the group; who has another one is not answered.
     * @param secret  16 bytes or more, which only members and who administers them have; copied.
     */
    public GroupKey(final UUID groupId, final byte[] secret)
    {
        if (secret.length < MIN_SECRET_BYTES)
        {
            throw new IllegalArgumentException("a secret of " + secret.length + " bytes: at least " + MIN_SECRET_BYTES);
        }

        this.groupId = groupId;
        this.secret = new SecretKeySpec(secret, MAC);
    }

    UUID groupId()
    {
        return groupId;
    }

    /**
     * What only who has the secret can say of a key: that it is one of a member.
     *
     * @param key of a certificate.
     * @return 64 hexadecimal digits.
     */
    String voucher(final PublicKey key)
    {
        try
        {
            final Mac mac = Mac.getInstance(MAC);
            mac.init(secret);
            return HexFormat.of().formatHex(mac.doFinal(key.getEncoded()));
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("every JDK has " + MAC, ex);
        }
    }

    @Override
    public String toString()
    {
        return "GroupKey{" + groupId + '}';
    }
}

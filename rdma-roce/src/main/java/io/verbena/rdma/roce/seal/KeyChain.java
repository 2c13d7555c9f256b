package io.verbena.rdma.roce.seal;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.spec.AlgorithmParameterSpec;
import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;

/** A secret of a direction, the key that belongs to it, and the way to the next ones. Immutable. */
final class KeyChain
{
    private static final String KEY = "verbena packet key";
    private static final String NEXT = "verbena next packets";
    private static final String HKDF = "HKDF-SHA256";

    /** Of AES. */
    final SecretKey key;
    private final SecretKey secret;

    KeyChain(final SecretKey secret)
    {
        this.secret = secret;
        key = expand(secret, KEY, SealedPacketDescriptor.KEY_LENGTH_BYTES, "AES");
    }

    /** What follows; who learns it cannot go back. */
    KeyChain next()
    {
        return new KeyChain(expand(secret, NEXT, secret.getEncoded().length, "Generic"));
    }

    private static SecretKey expand(
        final SecretKey secret, final String context, final int lengthBytes, final String algorithm)
    {
        try
        {
            final AlgorithmParameterSpec how =
                HKDFParameterSpec.expandOnly(secret, context.getBytes(StandardCharsets.US_ASCII), lengthBytes);
            return KDF.getInstance(HKDF).deriveKey(algorithm, how);
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("this Java runtime has no " + HKDF, ex);
        }
    }
}

package io.verbena.raas.encryption;

import io.verbena.raas.identity.IdentitySecret;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.spec.AlgorithmParameterSpec;
import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;

/** HKDF-SHA-256 (RFC 5869) of the JDK. Stateless. */
final class KeyDerivation
{
    /** From the end that connects to the one that accepts. */
    static final String REQUESTS = "verbena requests";
    /** The other way. */
    static final String REPLIES = "verbena replies";
    private static final String KEY = "verbena key";
    private static final String NEXT = "verbena next";
    private static final String HKDF = "HKDF-SHA256";
    private static final String GENERIC = "Generic";

    private KeyDerivation()
    {
    }

    /**
     * The secret of one direction of one connection.
     *
     * @param identity  secret of the identity that connects.
     * @param direction {@link #REQUESTS} or {@link #REPLIES}.
     * @param request   connect data of the request, all of it.
     * @param answer    connect data of the answer, all of it; both have a number that was chosen at random.
     */
    static SecretKey ofConnection(
        final IdentitySecret identity, final String direction, final byte[] request, final byte[] answer)
    {
        final ByteArrayOutputStream context = new ByteArrayOutputStream();
        context.writeBytes(direction.getBytes(StandardCharsets.US_ASCII));
        context.write(request.length); // so that no two pairs of request and answer are the same bytes
        context.writeBytes(request);
        context.writeBytes(answer);
        return identity.expand(context.toByteArray(), SealedMessageDescriptor.SECRET_LENGTH_BYTES);
    }

    /** The key that belongs to a direction's secret. */
    static SecretKey key(final SecretKey secret)
    {
        return derive(HKDFParameterSpec.expandOnly(secret, KEY.getBytes(StandardCharsets.US_ASCII),
            SealedMessageDescriptor.KEY_LENGTH_BYTES), "AES");
    }

    /** The secret that follows a direction's secret: who learns it cannot go back. */
    static SecretKey next(final SecretKey secret)
    {
        return derive(HKDFParameterSpec.expandOnly(secret, NEXT.getBytes(StandardCharsets.US_ASCII),
            SealedMessageDescriptor.SECRET_LENGTH_BYTES), GENERIC);
    }

    private static SecretKey derive(final AlgorithmParameterSpec how, final String algorithm)
    {
        try
        {
            return KDF.getInstance(HKDF).deriveKey(algorithm, how);
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("this Java runtime has no " + HKDF, ex);
        }
    }
}

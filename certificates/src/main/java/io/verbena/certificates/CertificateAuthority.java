package io.verbena.certificates;

import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;

/** Issues certificates with keys on the curve P-256. Immutable; any thread. */
public final class CertificateAuthority
{
    /** What a certificate may be used for. */
    public enum Use
    {
        /** By who is asked. */
        SERVER(KeyPurposeId.id_kp_serverAuth),
        /** By who asks. */
        CLIENT(KeyPurposeId.id_kp_clientAuth);

        private final KeyPurposeId purpose;

        Use(final KeyPurposeId purpose)
        {
            this.purpose = purpose;
        }
    }

    private static final String SIGNATURE = "SHA256withECDSA";
    private static final int SERIAL_BITS = 127;
    private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|.*:.*");

    private final KeyPair keys;
    private final X509Certificate certificate;

    private CertificateAuthority(final KeyPair keys, final X509Certificate certificate)
    {
        this.keys = keys;
        this.certificate = certificate;
    }

    /**
     * Makes an authority with a new key.
     *
     * @param name       common name of it.
     * @param validFrom  start of its validity.
     * @param validUntil end of its validity.
     * @return the authority.
     */
    public static CertificateAuthority create(final String name, final Instant validFrom, final Instant validUntil)
    {
        final KeyPair keys = newKeys();
        final X500Name itself = named(name);
        final X509v3CertificateBuilder builder = builder(itself, itself, keys.getPublic(), validFrom, validUntil);
        try
        {
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(0))
                .addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign));
        }
        catch (final CertIOException ex)
        {
            throw new IllegalStateException("an extension cannot be encoded", ex);
        }
        return new CertificateAuthority(keys, sign(builder, keys));
    }

    /**
     * Makes a key and a certificate that it signs itself, for peers that go by what its name says.
     *
     * @param name       common name, up to 64 characters, of the certificate of a key.
     * @param validFrom  start of its validity.
     * @param validUntil end of its validity.
     * @return the certificate alone, and the key.
     */
    public static IssuedCertificate selfSigned(
        final Function<PublicKey, String> name, final Instant validFrom, final Instant validUntil)
    {
        final KeyPair keys = newKeys();
        final X500Name itself = named(name.apply(keys.getPublic()));
        return new IssuedCertificate(
            List.of(sign(builder(itself, itself, keys.getPublic(), validFrom, validUntil), keys)), keys.getPrivate());
    }

    /** @return its own certificate. */
    public X509Certificate certificate()
    {
        return certificate;
    }

    /**
     * Issues a certificate with a new key.
     *
     * @param name       common name of whose it is.
     * @param hosts      names and addresses of its host, and URIs, which have a {@code /}; none for a client.
     * @param use        of it.
     * @param validFrom  start of its validity.
     * @param validUntil end of its validity.
     * @return the certificate, that of this authority behind it, and the key.
     */
    public IssuedCertificate issue(
        final String name, final List<String> hosts, final Use use, final Instant validFrom, final Instant validUntil)
    {
        final KeyPair owner = newKeys();
        final X509v3CertificateBuilder builder = builder(
            new X500Name(certificate.getSubjectX500Principal().getName()), named(name), owner.getPublic(), validFrom,
            validUntil);
        try
        {
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false))
                .addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature))
                .addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(use.purpose));
            if (!hosts.isEmpty())
            {
                builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(
                    hosts.stream().map(CertificateAuthority::generalName).toArray(GeneralName[]::new)));
            }
        }
        catch (final CertIOException ex)
        {
            throw new IllegalStateException("an extension cannot be encoded", ex);
        }
        return new IssuedCertificate(List.of(sign(builder, keys), certificate), owner.getPrivate());
    }

    private static GeneralName generalName(final String host)
    {
        return host.contains("/") ? new GeneralName(GeneralName.uniformResourceIdentifier, host) :
            new GeneralName(ADDRESS.matcher(host).matches() ? GeneralName.iPAddress : GeneralName.dNSName, host);
    }

    private static X500Name named(final String name)
    {
        return new X500Name("CN=" + name);
    }

    private static X509v3CertificateBuilder builder(
        final X500Name issuer, final X500Name subject, final PublicKey key, final Instant validFrom,
        final Instant validUntil)
    {
        return new JcaX509v3CertificateBuilder(issuer, new BigInteger(SERIAL_BITS, new SecureRandom()),
            Date.from(validFrom), Date.from(validUntil), subject, key);
    }

    private static X509Certificate sign(final X509v3CertificateBuilder builder, final KeyPair keys)
    {
        try
        {
            return new JcaX509CertificateConverter().getCertificate(
                builder.build(new JcaContentSignerBuilder(SIGNATURE).build(keys.getPrivate())));
        }
        catch (final OperatorCreationException | GeneralSecurityException ex)
        {
            throw new IllegalStateException("every JDK has " + SIGNATURE, ex);
        }
    }

    private static KeyPair newKeys()
    {
        try
        {
            final KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            return generator.generateKeyPair();
        }
        catch (final GeneralSecurityException ex)
        {
            throw new IllegalStateException("every JDK has the curve P-256", ex);
        }
    }
}

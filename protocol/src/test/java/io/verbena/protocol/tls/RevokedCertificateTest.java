package io.verbena.protocol.tls;

import io.verbena.certificates.CertificateAuthority;
import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.ASN1Integer;
import org.bouncycastle.asn1.ASN1Sequence;
import org.bouncycastle.asn1.DERBitString;
import org.bouncycastle.asn1.DERSequence;
import org.bouncycastle.asn1.x509.Certificate;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPublicKey;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import static org.assertj.core.api.Assertions.assertThat;

class RevokedCertificateTest
{
    /** Of (r, s) and (r, n - s) each is a signature: who has one certificate has another that is as good. */
    @Test
    void shouldBeThatOfTheSameCertificateWithItsOtherSignature() throws Exception
    {
        final Instant now = Instant.now();
        final X509Certificate certificate = CertificateAuthority.create(
            "an authority", now.minus(1, ChronoUnit.HOURS), now.plus(1, ChronoUnit.HOURS)).certificate();
        final X509Certificate other = withOtherSignature(certificate);
        other.verify(certificate.getPublicKey());
        assertThat(other.getEncoded()).isNotEqualTo(certificate.getEncoded());
        assertThat(TlsSettings.fingerprint(other)).isNotEqualTo(TlsSettings.fingerprint(certificate));
        assertThat(RevokedCertificate.fingerprint(other)).isEqualTo(RevokedCertificate.fingerprint(certificate));
    }

    private static X509Certificate withOtherSignature(final X509Certificate certificate) throws Exception
    {
        final Certificate parts = Certificate.getInstance(certificate.getEncoded());
        final ASN1Sequence signature = ASN1Sequence.getInstance(parts.getSignature().getOctets());
        final BigInteger s = ASN1Integer.getInstance(signature.getObjectAt(1)).getValue();
        final BigInteger order = ((ECPublicKey)certificate.getPublicKey()).getParams().getOrder();
        final DERSequence otherSignature = new DERSequence(new ASN1Encodable[]{
            signature.getObjectAt(0), new ASN1Integer(order.subtract(s))});
        final byte[] bytes = new DERSequence(new ASN1Encodable[]{
            parts.getTBSCertificate(), parts.getSignatureAlgorithm(),
            new DERBitString(otherSignature.getEncoded())}).getEncoded();
        return (X509Certificate)CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(bytes));
    }
}

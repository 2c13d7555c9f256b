package io.verbena.protocol.message;

import io.verbena.protocol.tls.RevokedCertificate;

import java.util.List;

/**
 * A part of the list of revoked certificates.
 *
 * @param certificates by ascending fingerprint.
 * @param hasMore      whether others come behind them.
 */
public record RevocationPage(List<RevokedCertificate> certificates, boolean hasMore)
{
}

package io.verbena.meta.catalog;

import io.verbena.meta.membership.MetaLedger;
import io.verbena.meta.store.MetaBatch;
import io.verbena.protocol.tls.RevokedCertificate;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Certificates that are taken from nobody any more; what it says is on disk. Each change has a version of the cluster,
 * so that every node hears of it with its next heartbeat. One thread, but for {@link #has}.
 */
public final class RevokedCertificates
{
    private static final Comparator<RevokedCertificate> ORDER = Comparator.comparing(RevokedCertificate::digits);

    private final MetaLedger ledger;
    private final List<RevokedCertificate> certificates = new ArrayList<>();
    private volatile Set<Integer> numbers;

    /**
     * @param ledger   makes changes durable.
     * @param restored what the store held at start.
     */
    public RevokedCertificates(final MetaLedger ledger, final List<RevokedCertificate> restored)
    {
        this.ledger = ledger;
        certificates.addAll(restored);
        publish();
    }

    private void publish()
    {
        certificates.sort(ORDER);
        numbers = certificates.stream().map(RevokedCertificate::number).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * @param number of a certificate; 0 for none.
     * @return whether one of this number is revoked. Any thread.
     */
    public boolean has(final int number)
    {
        return numbers.contains(number);
    }

    /** @return numbers of all; read-only. */
    public Set<Integer> numbers()
    {
        return numbers;
    }

    /** @return whether no more can be revoked. */
    public boolean isFull()
    {
        return certificates.size() >= RevokedCertificate.MAX_REVOKED;
    }

    /**
     * @param after another one; null for the first.
     * @return those with greater fingerprints, in order.
     */
    public List<RevokedCertificate> after(final RevokedCertificate after)
    {
        return certificates.stream().filter((each) -> null == after || ORDER.compare(each, after) > 0).toList();
    }

    /**
     * @param certificate without a {@link RevokedCertificate#problem()}; its subject is not regarded when it is
     *                    restored.
     * @param isRevoked   whether it is revoked from now on.
     * @return whether that is a change.
     */
    public boolean change(final RevokedCertificate certificate, final boolean isRevoked)
    {
        final boolean was = certificates.stream().anyMatch((each) -> 0 == ORDER.compare(each, certificate));
        if (was == isRevoked)
        {
            return false;
        }
        ledger.commit(ledger.counters().withNextMembershipVersion(), isRevoked ? new MetaBatch().revoke(certificate) :
            new MetaBatch().restore(certificate));
        if (isRevoked)
        {
            certificates.add(certificate);
        }
        else
        {
            certificates.removeIf((each) -> 0 == ORDER.compare(each, certificate));
        }
        publish();
        return true;
    }
}

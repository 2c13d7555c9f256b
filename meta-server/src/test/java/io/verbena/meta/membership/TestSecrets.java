package io.verbena.meta.membership;

import io.verbena.meta.store.StoredSecrets;
import io.verbena.raas.identity.IdentitySecret;

import java.security.SecureRandom;

/** Of clusters whose secrets nobody looks at. */
final class TestSecrets
{
    private TestSecrets()
    {
    }

    static StoredSecrets first()
    {
        return StoredSecrets.first(IdentitySecret.random(new SecureRandom()), 0);
    }
}

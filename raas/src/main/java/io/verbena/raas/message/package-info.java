/**
 * Messages between queue pairs: binary layouts, registered buffers that they are sent from and received in, and the way
 * from the number in an immediate to who receives. Must not know queue pairs, virtual or not.
 */
package io.verbena.raas.message;

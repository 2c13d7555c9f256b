/** Request/reply messages: their binary layout and the registered buffers that they are sent from and received in. */
package io.verbena.raas.message;

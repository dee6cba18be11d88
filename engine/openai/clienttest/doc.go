// Package clienttest holds the API against the official OpenAI clients for Python and Node. Its tests are behind the build
// tag "clients", because the clients have to be installed first; make test does that and sets the tag.
//
// It does not know about how a model computes.
package clienttest
